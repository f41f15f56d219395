package lists

import (
	"net/http"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

func (p *pages) profile(w http.ResponseWriter, r *site.Request) error {
	selection, err := parseSelection(r.URL.Query())
	if err != nil {
		return err
	}
	selection.Order = paste.ByCreation
	found, err := p.Modules.Pastes.ListPublic.Do(r.Context(), r.PathValue("name"), selection.Tag, selection.After)
	if fault.Is(err, fault.NotFound) {
		moved, err := p.Modules.Users.ShowProfile.ByFormerName(r.Context(), r.PathValue("name"))
		return site.Done(w, site.PathOfUser(moved.Name.String()), err)
	}
	if err != nil {
		return err
	}
	r.Public = true
	name := found.Owner.Name.String()
	page := r.Layout(name, "Code that "+name+" shows to everybody")
	page.Feed = site.PathOfUser(name) + "/feed.atom"
	return site.Show(w, r, p.profileView(page, found.Owner, pasteList{found.Page, site.PathOfUser(name), selection}), nil)
}

func (p *pages) recent(w http.ResponseWriter, r *site.Request) error {
	after, err := site.ParsePlace(r.URL.Query().Get("after"))
	if err != nil {
		return err
	}
	found, err := p.Modules.Pastes.ListRecent.Do(r.Context(), after)
	page := r.Layout("Recent pastes", "")
	page.Feed = site.PathRecent + ".atom"
	return site.Show(w, r, p.recentView(page, pasteList{found, site.PathRecent, paste.Selection{After: after}}), err)
}
