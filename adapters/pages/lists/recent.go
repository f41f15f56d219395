package lists

import (
	"net/http"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/paste"
)

func (p *pages) recent(w http.ResponseWriter, r *site.Request) error {
	after, err := site.ParsePlace(r.URL.Query().Get("after"))
	if err != nil {
		return err
	}
	found, err := p.Modules.Pastes.ListRecent.Do(r.Context(), after)
	if err != nil {
		return err
	}
	page := r.Layout("Recent pastes", "")
	page.Feed = site.PathRecent + ".atom"
	return site.Show(w, r, p.recentView(page, newPasteList(site.PathRecent, paste.Selection{After: after}, found)))
}
