package pastes

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
)

// deletable returns the page of the paste in the path if the viewer owns it or if it has a delete key, and whether to
// ask for that key. It asks visitors to sign in, whatever else is at the path.
func (p *pages) deletable(r *site.Request) (page pastePage, askKey bool, err error) {
	doc, err := p.unopened(r)
	// who owns an unopened paste is unknown here
	owns := doc.OwnedBy(r.Viewer.User.ID) || doc.Burns && r.Viewer.SignedIn()
	if err == nil && !owns && !doc.Burns && doc.DeleteKey == (paste.KeyHash{}) {
		err = paste.ErrNotFound
	}
	if !r.Viewer.SignedIn() {
		err = fault.Replace(err, fault.NotFound, token.ErrRejected)
	}
	if err != nil {
		return pastePage{}, false, err
	}
	page = newPastePage(r, &doc)
	page.Title = "Delete " + page.Title
	if !owns {
		key, _ := r.DeleteKey()
		askKey = key == ""
	}
	return page, askKey, nil
}

func (p *pages) deletion(w http.ResponseWriter, r *site.Request) error {
	page, askKey, err := p.deletable(r)
	return site.Show(w, r, p.deletionView(page, askKey, false), err)
}

func (p *pages) delete(w http.ResponseWriter, r *site.Request, fields url.Values) error {
	page, _, err := p.deletable(r)
	if err != nil {
		return err
	}
	key, _ := r.DeleteKey()
	key = cmp.Or(key, paste.DeleteKey(strings.TrimSpace(fields.Get("key"))))
	err = p.Modules.Pastes.DeleteOwn.Do(r.Context(), r.Actor(), r.PathValue("id"), key)
	if fault.Is(err, fault.Unauthenticated) {
		r.Rejected = true
		site.SetDeleteKey(w, r, r.PathValue("id"), "")
		return site.ShowAs(w, r, http.StatusUnauthorized, p.deletionView(page, true, true))
	}
	if err != nil {
		return err
	}
	if key == "" {
		return p.SeeOther(w, site.PathPastes)
	}
	site.SetDeleteKey(w, r, r.PathValue("id"), "")
	return p.SeeOther(w, "/?deleted")
}

func (p *pages) givingUp(w http.ResponseWriter, r *site.Request) error {
	doc, err := p.unopened(r)
	if err == nil {
		_, err = doc.Anonymous(r.Viewer.User.ID, paste.KeyHash{}, paste.Never, time.Time{})
	}
	page := newPastePage(r, &doc)
	page.Title = "Make " + page.Title + " anonymous"
	return site.Show(w, r, p.givingUpView(page), err)
}

func (p *pages) giveUp(w http.ResponseWriter, r *site.Request) error {
	id := r.PathValue("id")
	key, err := p.Modules.Pastes.AnonymizeOwn.Do(r.Context(), r.Actor(), id)
	if err != nil {
		return err
	}
	site.SetDeleteKey(w, r, id, site.UnseenKey+string(key))
	return p.SeeOther(w, site.PathOfPaste(id))
}
