package lists

import (
	"net/http"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/paste"
)

func (p *pages) own(w http.ResponseWriter, r *site.Request) error {
	selection, err := parseSelection(r.URL.Query())
	if err != nil {
		return err
	}
	found, err := p.Modules.Pastes.BrowseOwn.Do(r.Context(), r.Viewer, selection)
	return site.Show(w, r, p.ownView(r.Layout("Your pastes", ""), pasteList{found, site.PathPastes, selection}, true), err)
}

func (p *pages) starred(w http.ResponseWriter, r *site.Request) error {
	after, err := site.ParsePlace(r.URL.Query().Get("after"))
	if err != nil {
		return err
	}
	found, err := p.Modules.Pastes.ListStarred.Do(r.Context(), r.Viewer, after)
	list := pasteList{found, site.PathStarred, paste.Selection{After: after}}
	return site.Show(w, r, p.ownView(r.Layout("Starred pastes", ""), list, false), err)
}
