package pastes

import (
	"net/http"
	"net/url"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/paste"
)

func (p *pages) reporting(w http.ResponseWriter, r *site.Request) error {
	stored, err := p.unopened(r)
	if err != nil {
		return err
	}
	return p.showReport(w, r, &stored, false)
}

func (p *pages) report(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	stored, err := p.unopened(r)
	if err != nil {
		return err
	}
	err = p.Modules.Moderation.Report.Do(r.Context(), r.Viewer, paste.Client(r.RemoteAddr), r.PathValue("id"),
		fields.Get("reason"), fields.Get("text"))
	if err != nil {
		return p.Explained(r, err)
	}
	return p.showReport(w, r, &stored, true)
}

func (p *pages) showReport(w http.ResponseWriter, r *site.Request, stored *paste.Document, sent bool) error {
	page := newPastePage(r, stored)
	page.Title, page.Description = "Report "+page.Title, ""
	return site.Show(w, r, p.reportView(page, sent))
}
