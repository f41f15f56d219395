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
)

// reportQuota is how many pastes a client may report.
var reportQuota = paste.Quota{Pastes: 10, Window: time.Hour}

var (
	errReports  = fault.New(fault.Exhausted, "You have reached the limit for reports. Try again in an hour.")
	errNoReport = fault.New(fault.NotFound, "There is no open report with that id.")
)

// Report stores, lists and closes reports of pastes.
type Report struct{ *module }

// Do stores a viewer's report of the paste with that id. It fails with fault.Invalid when the reason is none of
// moderation.Reasons or the text too long, with paste.ErrNotFound when the viewer sees no such paste, and with
// fault.Exhausted when the viewer's address has used up its reports of an hour.
func (r *Report) Do(ctx context.Context, actor audit.Actor, id, reason, text string) error {
	viewer, err := actor.Writer()
	if err != nil {
		return err
	}
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")) // as forms send lines
	report := moderation.Report{ID: id + "-" + ident.New(), Paste: paste.ID(id), Reason: reason, Text: text, At: r.now()}
	if err := report.Validate(); err != nil {
		return err
	}
	client := "report " + paste.ClientAt(actor.Address())
	err = r.store.Report(ctx, actor.Address(), report, viewer.User.ID, client, reportQuota)
	if err == nil {
		text := "A reader has reported the paste " + id + " (" + reason +
			"). Look at it on /admin/reports, or with gluepot report list."
		r.notify.Tell(notice.Notice{Event: notice.NewReport, At: report.At, Subject: id, Text: text})
	}
	return fault.Replace(paste.ReplaceNotFound(err), fault.Exhausted, errReports)
}

// All calls visit with the open reports, oldest first, at most limit of them; 0 means no limit.
func (r *Report) All(ctx context.Context, actor audit.Actor, limit int, visit func(moderation.Report) error) error {
	if err := actor.CheckAdministrator(); err != nil {
		return err
	}
	return batch.Each(moderation.Report{}, limit,
		func(after moderation.Report) ([]moderation.Report, moderation.Report, error) {
			reports, err := r.store.Reports(ctx, after, page)
			return reports, batch.Last(reports, page), err
		}, visit)
}

// Close ends the report with that id. It fails with fault.NotFound when none is open.
func (r *Report) Close(ctx context.Context, actor audit.Actor, id string) error {
	if err := actor.CheckAdministratorWrite(); err != nil {
		return err
	}
	err := r.store.CloseReport(ctx, actor.Entry("report.close", id, ""), id)
	return fault.Replace(err, fault.NotFound, errNoReport)
}
