package pastes

import (
	"context"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
)

// NextOwn reads the pastes of a signed-in user one by one, with what they hold.
type NextOwn struct {
	pastes interface {
		paste.ActiveIDLister
		paste.DocumentFinder
	}
}

// Do returns the first of the viewer's active pastes that stand after a place, newest first: also a private one, and one that burns
// after reading, which stays. Of an encrypted one it returns the cipher. It fails with paste.ErrNotFound when there is none left, with
// token.Rejected when the viewer has not signed in, and with fault.Unavailable when the store does not answer.
func (n *NextOwn) Do(ctx context.Context, viewer token.Viewer, after paste.Place) (paste.Document, error) {
	if !viewer.SignedIn() {
		return paste.Document{}, token.Rejected()
	}
	for {
		places, err := n.pastes.ActiveIDs(ctx, viewer.User.ID, after, 1)
		if err != nil {
			return paste.Document{}, err
		}
		if len(places) == 0 {
			return paste.Document{}, paste.ErrNotFound
		}
		after = places[0]
		found, err := n.pastes.DocumentByID(ctx, after.ID)
		if fault.Is(err, fault.NotFound) || err == nil && !found.OwnedBy(viewer.User.ID) { // it has gone meanwhile
			continue
		}
		return found, err
	}
}
