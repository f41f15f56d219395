package pages

import (
	"context"
	"net/http"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// ownPage is a list of a signed-in user's: of own pastes, or of others that have a star.
type ownPage struct {
	layout

	Own   bool
	Sorts []listSort // of own pastes
	pasteList
}

// own shows a reader's own pastes, or asks for a token first.
func (p *Pages) own(w http.ResponseWriter, r *request) error {
	selection, err := parseSelection(r.URL.Query())
	if err != nil {
		return err
	}
	page := ownPage{layout: r.layout("Your pastes", ""), Own: true, Sorts: sortsOf(pathPastes, selection)}
	return p.browse(w, r, page, func(ctx context.Context) (pasteList, error) {
		found, err := p.modules.Pastes.BrowseOwn.Do(ctx, r.viewer, selection)
		return newPasteList(pathPastes, selection, found.Pastes, found.More), err
	})
}

// starred shows what a reader has starred, or asks for a token first.
func (p *Pages) starred(w http.ResponseWriter, r *request) error {
	after, err := parsePlace(r.URL.Query().Get("after"))
	if err != nil {
		return err
	}
	return p.browse(w, r, ownPage{layout: r.layout("Starred pastes", "")}, func(ctx context.Context) (pasteList, error) {
		found, err := p.modules.Pastes.ListStarred.Do(ctx, r.viewer, after)
		return newPasteList(pathStarred, paste.Selection{After: after}, found.Pastes, found.More), err
	})
}

func (p *Pages) browse(w http.ResponseWriter, r *request, page ownPage, list func(context.Context) (pasteList, error)) (err error) {
	if !r.viewer.SignedIn() {
		signInFirst(w, r)
		return nil
	}
	page.pasteList, err = list(r.Context())
	if fault.Is(err, fault.Unauthenticated) { // since its session was resumed
		r.rejected = true
		setSession(w, r.Request, "")
		signInFirst(w, r)
		return nil
	}
	if err != nil {
		return err
	}
	return show(w, r, p.ownView(page))
}
