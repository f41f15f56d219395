package pastes

import (
	"net/http"
	"net/url"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/paste"
)

func (p *pages) reporting(w http.ResponseWriter, r *site.Request) error {
	if r.URL.Query().Has("sent") { // does not read the paste, which may be gone by now
		page := pastePage{Layout: r.Layout("Report sent", ""),
			Paste: &paste.Document{Paste: paste.Paste{ID: paste.ID(r.PathValue("id"))}}}
		return site.Show(w, r, p.reportView(page, true), nil)
	}
	doc, err := p.unopened(r)
	page := newPastePage(r, &doc)
	page.Title = "Report " + page.Title
	return site.Show(w, r, p.reportView(page, false), err)
}

func (p *pages) report(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	id := r.PathValue("id")
	_, err := p.unopened(r)
	if err == nil {
		err = p.Explained(r, p.Modules.Moderation.Report.Do(r.Context(), r.Actor(), id,
			fields.Get("reason"), fields.Get("text")))
	}
	return p.Done(w, site.PathOfPaste(id)+"/report?sent", err)
}
