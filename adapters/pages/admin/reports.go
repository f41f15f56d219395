package admin

import (
	"net/http"
	"strings"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/moderation"
)

// reportsPage has the open reports.
type reportsPage struct {
	site.Layout

	Reports []moderation.Report
	More    bool
}

// adminReports lists the oldest open reports.
func (p *pages) adminReports(w http.ResponseWriter, r *site.Request) error {
	page := reportsPage{Layout: r.Layout("Reports", "")}
	err := p.Modules.Moderation.Report.All(r.Context(), foundAtOnce+1, func(report moderation.Report) error {
		page.Reports = append(page.Reports, report)
		return nil
	})
	if err != nil {
		return err
	}
	if page.More = len(page.Reports) > foundAtOnce; page.More {
		page.Reports = page.Reports[:foundAtOnce]
	}
	return site.Show(w, r, p.reportsView(page))
}

// changeReports closes a report, or removes its paste.
func (p *pages) changeReports(w http.ResponseWriter, r *site.Request) error {
	fields, err := r.Fields(4)
	if err != nil {
		return err
	}
	switch fields.Get("do") {
	case "close":
		err = p.Modules.Moderation.Report.Close(r.Context(), fields.Get("id"))
	case "remove":
		err = p.Modules.Moderation.Remove.Do(r.Context(), fields.Get("paste"), strings.TrimSpace(fields.Get("reason")))
	default:
		err = site.ErrBrokenForm
	}
	return done(w, err, pathReports)
}
