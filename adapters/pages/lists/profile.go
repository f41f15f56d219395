package lists

import (
	"net/http"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// profilePage is a user with public pastes.
type profilePage struct {
	site.Layout

	Name        string
	Since       site.Moment
	Contributor bool
	Supporter   bool
	pasteList
}

// profile shows a user and what that user shows to everybody.
func (p *pages) profile(w http.ResponseWriter, r *site.Request) error {
	selection, err := parseSelection(r.URL.Query())
	if err != nil {
		return err
	}
	selection.Order = paste.ByCreation
	found, err := p.Modules.Pastes.ListPublic.Do(r.Context(), r.PathValue("name"), selection.Tag, selection.After)
	if fault.Is(err, fault.NotFound) {
		moved, err := p.Modules.Users.ShowFormer.Do(r.Context(), r.PathValue("name"))
		if err == nil {
			site.SeeOther(w, site.PathOfUser(moved.Name.String()))
		}
		return err
	}
	if err != nil {
		return err
	}
	r.Public = true
	name := found.Owner.Name.String()
	page := profilePage{
		Layout: r.Layout(name, "Code that "+name+" shows to everybody"),
		Name:   name, Since: site.At(found.Owner.CreatedAt), Contributor: found.Owner.Contributor, Supporter: found.Owner.SupporterMonths > 0,
		pasteList: newPasteList(site.PathOfUser(name), selection, found.Pastes, found.More),
	}
	page.Feed = site.PathOfUser(name) + "/feed.atom"
	return site.Show(w, r, p.profileView(page))
}
