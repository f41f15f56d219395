package lists

import (
	"net/http"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/paste"
)

// recentPage has the newest public pastes.
type recentPage struct {
	site.Layout
	pasteList
}

// recent shows what users show to everybody.
func (p *pages) recent(w http.ResponseWriter, r *site.Request) error {
	after, err := site.ParsePlace(r.URL.Query().Get("after"))
	if err != nil {
		return err
	}
	found, more, err := p.Modules.Pastes.ListRecent.Do(r.Context(), after)
	if err != nil {
		return err
	}
	page := recentPage{r.Layout("Recent pastes", ""), newPasteList(pathRecent, paste.Selection{After: after}, found, more)}
	page.Feed = pathRecent + ".atom"
	return site.Show(w, r, p.recentView(page))
}
