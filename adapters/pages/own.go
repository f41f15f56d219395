package pages

import (
	"net/http"

	"github.com/gluepot/gluepot/domain/fault"
)

// ownPage has the pastes of who has signed in.
type ownPage struct {
	layout
	pasteList
}

// own shows a reader's own pastes, or asks for a token first.
func (p *Pages) own(w http.ResponseWriter, r *request) error {
	after, err := parsePlace(r.URL.Query().Get("after"))
	if err != nil {
		return err
	}
	if r.session.secret == "" {
		signInFirst(w, r)
		return nil
	}
	found, err := p.modules.Pastes.BrowseOwn.Do(r.Context(), r.session.secret, after)
	if fault.Is(err, fault.Unauthenticated) { // since its session was resumed
		r.rejected = true
		setSession(w, r.Request, "")
		signInFirst(w, r)
		return nil
	}
	if err != nil {
		return err
	}
	return show(w, r, p.ownView(ownPage{r.layout("Your pastes", ""), newPasteList(pathPastes, after, found.Pastes, found.More)}))
}
