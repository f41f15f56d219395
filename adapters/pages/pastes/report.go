package pastes

import (
	"net/http"
	"net/url"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/paste"
)

func (p *pages) reporting(w http.ResponseWriter, r *site.Request) error {
	stored, err := p.unopened(r)
	return p.showReport(w, r, &stored, false, err)
}

func (p *pages) report(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	stored, err := p.unopened(r)
	if err == nil {
		err = p.Explained(r, p.Modules.Moderation.Report.Do(r.Context(), r.Viewer, paste.Client(r.RemoteAddr), r.PathValue("id"),
			fields.Get("reason"), fields.Get("text")))
	}
	return p.showReport(w, r, &stored, true, err)
}

func (p *pages) showReport(w http.ResponseWriter, r *site.Request, stored *paste.Document, sent bool, err error) error {
	page := newPastePage(r, stored)
	page.Title = "Report " + page.Title
	return site.Show(w, r, p.reportView(page, sent), err)
}
