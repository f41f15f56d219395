package pastes

import (
	"net/http"
	"time"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/paste"
)

func (p *pages) givingUp(w http.ResponseWriter, r *site.Request) error {
	stored, err := p.unopened(r)
	if err == nil {
		_, err = stored.GivenUp(r.Viewer.User.ID, paste.KeyHash{}, paste.Never, time.Time{})
	}
	if err != nil {
		return err
	}
	page := newPastePage(r, &stored)
	page.Title, page.Description = "Make "+page.Title+" anonymous", ""
	return site.Show(w, r, p.givingUpView(page))
}

func (p *pages) giveUp(w http.ResponseWriter, r *site.Request) error {
	id := r.PathValue("id")
	key, err := p.Modules.Pastes.GiveUpOwn.Do(r.Context(), r.Viewer, id)
	if err != nil {
		return err
	}
	site.SetDeleteKey(w, r.Request, id, site.UnseenKey+string(key))
	return site.SeeOther(w, site.PathOfPaste(id))
}
