package admin

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/moderation"
)

func (p *pages) adminReports(w http.ResponseWriter, r *site.Request) error {
	var reports []moderation.Report
	err := p.Modules.Moderation.Report.All(r.Context(), foundAtOnce+1, func(report moderation.Report) error {
		reports = append(reports, report)
		return nil
	})
	if err != nil {
		return err
	}
	more := len(reports) > foundAtOnce
	return site.Show(w, r, p.reportsView(r.Layout("Reports", ""), reports[:min(len(reports), foundAtOnce)], more))
}

func (p *pages) changeReports(w http.ResponseWriter, r *site.Request, fields url.Values) (err error) {
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
