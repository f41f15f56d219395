package editor

import (
	"net/http"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/paste"
)

func (p *pages) fork(w http.ResponseWriter, r *site.Request) error {
	stored, err := p.Read(r)
	if err == nil && stored.Burns { // a copy would stay
		err = paste.ErrNotFound
	}
	if err != nil {
		return err
	}
	copied, err := editForm(&stored)
	if err != nil {
		return err
	}
	form := newPasteForm(r.Viewer.User.ID, "")
	form.Title, form.Snippets, form.Origin = copied.Title, copied.Snippets, string(stored.ID)
	if stored.Visibility == paste.Private { // one's own, which was not meant for others
		form.Visibility = paste.Private.String()
	}
	for i := range form.Snippets {
		form.Snippets[i].ID = ""
	}
	return p.showNew(w, r, form)
}
