package pages

import (
	"net/http"
	"strings"

	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/paste"
)

// reportPage asks what is wrong with a paste.
type reportPage struct {
	pastePage

	Sent bool
}

// reportsPage has the open reports.
type reportsPage struct {
	layout

	Reports []moderation.Report
	More    bool
}

// reporting asks what is wrong with a paste.
func (p *Pages) reporting(w http.ResponseWriter, r *request) error {
	stored, err := p.unopened(r)
	if err != nil {
		return err
	}
	return p.showReport(w, r, &stored, false)
}

// report tells the operators of a paste.
func (p *Pages) report(w http.ResponseWriter, r *request) error {
	fields, err := r.form(2)
	if err != nil {
		return err
	}
	stored, err := p.unopened(r)
	if err != nil {
		return err
	}
	err = p.modules.Moderation.Report.Do(r.Context(), r.viewer, paste.Client(r.RemoteAddr), r.PathValue("id"),
		fields.Get("reason"), fields.Get("text"))
	if err != nil {
		return p.explained(r, err)
	}
	return p.showReport(w, r, &stored, true)
}

func (p *Pages) showReport(w http.ResponseWriter, r *request, stored *paste.Document, sent bool) error {
	page := reportPage{pastePage: newPastePage(r, stored), Sent: sent}
	page.Title, page.Description = "Report "+page.Title, ""
	return show(w, r, p.reportView(page))
}

// adminReports lists the oldest open reports.
func (p *Pages) adminReports(w http.ResponseWriter, r *request) error {
	page := reportsPage{layout: r.layout("Reports", "")}
	err := p.modules.Moderation.Report.All(r.Context(), foundAtOnce+1, func(report moderation.Report) error {
		page.Reports = append(page.Reports, report)
		return nil
	})
	if err != nil {
		return err
	}
	if page.More = len(page.Reports) > foundAtOnce; page.More {
		page.Reports = page.Reports[:foundAtOnce]
	}
	return show(w, r, p.reportsView(page))
}

// changeReports closes a report, or removes its paste.
func (p *Pages) changeReports(w http.ResponseWriter, r *request) error {
	fields, err := r.form(4)
	if err != nil {
		return err
	}
	switch fields.Get("do") {
	case "close":
		err = p.modules.Moderation.Report.Close(r.Context(), fields.Get("id"))
	case "remove":
		err = p.modules.Moderation.Remove.Do(r.Context(), fields.Get("paste"), strings.TrimSpace(fields.Get("reason")))
	default:
		err = errBrokenForm
	}
	return done(w, err, pathAdminReports)
}
