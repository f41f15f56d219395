package pastes

import (
	"context"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
)

// GiveUpOwn makes a paste of a signed-in user anonymous.
type GiveUpOwn struct {
	pastes        paste.DocumentUpdater
	tokenRequired bool
	longest       paste.Lifetime // of anonymous pastes
	now           func() time.Time
}

// Do removes the owner of the paste with that id, and returns the key that deletes it, to be shown once. The paste loses its
// tags, becomes unlisted, and lives no longer than a new anonymous one.
//
// It fails with token.Rejected when the viewer has not signed in; with fault.Forbidden where anonymous pastes are off; with
// paste.ErrNotFound when there is no such paste, it has expired, or it is not the viewer's; with fault.Conflict when it is
// private; and with fault.Unavailable when the store does not answer.
func (g *GiveUpOwn) Do(ctx context.Context, viewer token.Viewer, id string) (paste.DeleteKey, error) {
	switch {
	case !viewer.SignedIn():
		return "", token.Rejected()
	case g.tokenRequired:
		return "", fault.New(fault.Forbidden, "Anonymous pastes are off on this server. You can delete the paste instead.")
	case !ident.Valid(id):
		return "", paste.ErrNotFound
	}
	key := paste.NewDeleteKey()
	_, err := g.pastes.Update(ctx, paste.ID(id), func(stored paste.Document) (paste.Change, error) {
		made, err := stored.GivenUp(viewer.User.ID, key.Hash(), g.longest, g.now())
		return paste.Change{Document: made, Changed: true}, err
	})
	if err != nil {
		return "", paste.Gone(err)
	}
	return key, nil
}
