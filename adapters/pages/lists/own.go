package lists

import (
	"context"
	"net/http"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// ownPage lists a signed-in user's own pastes, or starred ones.
type ownPage struct {
	site.Layout

	Own   bool
	Sorts []listSort // of own pastes
	pasteList
}

func (p *pages) own(w http.ResponseWriter, r *site.Request) error {
	selection, err := parseSelection(r.URL.Query())
	if err != nil {
		return err
	}
	page := ownPage{Layout: r.Layout("Your pastes", ""), Own: true, Sorts: sortsOf(site.PathPastes, selection)}
	return p.browse(w, r, page, func(ctx context.Context) (pasteList, error) {
		found, err := p.Modules.Pastes.BrowseOwn.Do(ctx, r.Viewer, selection)
		return newPasteList(site.PathPastes, selection, found), err
	})
}

func (p *pages) starred(w http.ResponseWriter, r *site.Request) error {
	after, err := site.ParsePlace(r.URL.Query().Get("after"))
	if err != nil {
		return err
	}
	return p.browse(w, r, ownPage{Layout: r.Layout("Starred pastes", "")}, func(ctx context.Context) (pasteList, error) {
		found, err := p.Modules.Pastes.ListStarred.Do(ctx, r.Viewer, after)
		return newPasteList(site.PathStarred, paste.Selection{After: after}, found), err
	})
}

func (p *pages) browse(w http.ResponseWriter, r *site.Request, page ownPage, list func(context.Context) (pasteList, error)) (err error) {
	if !r.Viewer.SignedIn() {
		return site.SignInFirst(w, r.URL.RequestURI())
	}
	page.pasteList, err = list(r.Context())
	if fault.Is(err, fault.Unauthenticated) { // the session has ended since Resume
		r.Rejected = true
		site.SetSession(w, r.Request, "")
		return site.SignInFirst(w, r.URL.RequestURI())
	}
	if err != nil {
		return err
	}
	return site.Show(w, r, p.ownView(page))
}
