package pastes

import (
	"context"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
)

// idPage is how many ids ListOwn holds at once.
const idPage = 5000

// ListOwn lists the pastes of a signed-in user.
type ListOwn struct{ pastes paste.ActiveIDLister }

// Do calls visit with the ids of the viewer's active pastes, private ones included, newest first, a page at a time; no
// transaction lasts meanwhile. An error of visit ends the walk and is returned.
// It fails with token.Rejected when the viewer has not signed in, and with fault.Unavailable when the store does not answer,
// possibly after some calls of visit.
func (l *ListOwn) Do(ctx context.Context, viewer token.Viewer, visit func([]paste.Place) error) error {
	if !viewer.SignedIn() {
		return token.Rejected()
	}
	for after := (paste.Place{}); ; {
		page, err := l.pastes.ActiveIDs(ctx, viewer.User.ID, after, idPage)
		if err != nil || len(page) == 0 {
			return err
		}
		if err := visit(page); err != nil || len(page) < idPage {
			return err
		}
		after = page[len(page)-1]
	}
}
