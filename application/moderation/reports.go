package moderation

import (
	"context"
	"strings"
	"time"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/notice"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
)

// reportQuota is how many pastes a client may report.
var reportQuota = paste.Quota{Pastes: 10, Window: time.Hour}

var (
	errReports  = fault.New(fault.Exhausted, "You have sent as many reports as you may. Try again in an hour.")
	errNoReport = fault.New(fault.NotFound, "There is no open report with that id.")
)

// Report stores, lists and closes reports of pastes.
type Report struct{ *module }

// Do stores a viewer's report of the paste with that id. It fails with fault.Invalid when the reason is none of
// moderation.Reasons or the text too long, with paste.ErrNotFound when the viewer sees no such paste, and with fault.Exhausted
// when the client has used up its reports of an hour.
func (r *Report) Do(ctx context.Context, viewer token.Viewer, client paste.Client, id, reason, text string) error {
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")) // as forms send lines
	made := moderation.Report{ID: id + "-" + ident.New(), Paste: paste.ID(id), Reason: reason, Text: text, At: r.now()}
	if err := made.Validate(); err != nil {
		return err
	}
	err := r.store.Report(ctx, made, viewer.User.ID, "report "+client, reportQuota)
	if err == nil {
		text := "A reader has reported the paste " + id + " (" + reason + "). Look at it on /admin/reports, or with gluepot report list."
		r.notify.Tell(notice.Notice{Event: notice.NewReport, At: made.At, Subject: id, Text: text})
	}
	return fault.Replace(paste.Gone(err), fault.Exhausted, errReports)
}

// All calls visit with the open reports, oldest first, at most limit of them; 0 is no limit.
func (r *Report) All(ctx context.Context, limit int, visit func(moderation.Report) error) error {
	return batch.Each(moderation.Report{}, limit, func(after moderation.Report) ([]moderation.Report, moderation.Report, error) {
		found, err := r.store.Reports(ctx, after, page)
		return found, batch.Last(found, page), err
	}, visit)
}

// Close ends the report with that id. It fails with fault.NotFound when none is open.
func (r *Report) Close(ctx context.Context, id string) error {
	return fault.Replace(r.store.CloseReport(audit.Note(ctx, "report.close", id, ""), id), fault.NotFound, errNoReport)
}
