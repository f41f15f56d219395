package pages

import (
	"net/http"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// ownPage has the pastes of who has signed in.
type ownPage struct {
	layout

	Pastes []listedPaste
	Later  bool   // it is not the first page
	Next   string // path of the next one, or ""
}

// own shows a reader's own pastes, or asks for a token first.
func (p *Pages) own(w http.ResponseWriter, r *request) error {
	after, err := parsePlace(r.URL.Query().Get("after"))
	if err != nil {
		return err
	}
	if p.reader(r) == "" {
		signInFirst(w, r)
		return nil
	}
	found, err := p.modules.Pastes.BrowseOwn.Do(r.Context(), p.reader(r), after)
	if fault.Is(err, fault.Unauthenticated) { // since its session was resumed
		r.rejected = true
		setSession(w, r.Request, "")
		signInFirst(w, r)
		return nil
	}
	if err != nil {
		return err
	}
	page := ownPage{layout: r.layout("Your pastes", ""), Later: after != paste.Place{}}
	for _, listed := range found.Pastes {
		page.Pastes = append(page.Pastes, newListedPaste(listed))
	}
	if n := len(found.Pastes); found.More && n > 0 {
		page.Next = pathPastes + "?after=" + formatPlace(found.Pastes[n-1].Place())
	}
	return show(w, r, p.ownView(page))
}
