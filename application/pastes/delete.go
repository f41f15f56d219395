package pastes

import (
	"context"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
)

// Delete deletes any paste, for the operator.
type Delete struct{ *module }

// Do deletes the paste, or the content of one that was removed or hidden. It fails with fault.Forbidden unless the
// actor is the operator, and with paste.ErrNotFound when there is none with that id.
func (d *Delete) Do(ctx context.Context, actor audit.Actor, id string) error {
	if err := actor.CheckOperator(); err != nil {
		return err
	}
	entry := actor.Entry("paste.delete", id, "")
	err := d.store.DeleteIf(ctx, entry, paste.ID(id), func(paste.Paste) error { return nil })
	if fault.Is(err, fault.NotFound) {
		err = d.store.DeleteRemoved(ctx, entry, paste.ID(id))
	}
	return paste.ReplaceNotFound(err)
}

// DeleteOwn removes a paste of a signed-in user, or one whose delete key is presented.
type DeleteOwn struct{ *module }

// Do removes the paste with that id, which belongs to the viewer or has that key; it may be encrypted. An empty key
// means no key. A blocked network does not matter: what it has written can go.
//
// It fails with token.ErrRejected when the viewer has not signed in and has no key; then with paste.ErrWrongKey when
// the paste has another key, and with paste.ErrNotFound when there is no such paste, it has expired, or it is not the
// viewer's and has no key.
func (d *DeleteOwn) Do(ctx context.Context, actor audit.Actor, id string, key paste.DeleteKey) error {
	viewer, err := actor.Writer()
	if err != nil {
		return err
	}
	if !viewer.SignedIn() && key == "" {
		return token.ErrRejected
	}
	err = d.store.DeleteIf(ctx, auditlog.Entry{}, paste.ID(id), func(stored paste.Paste) error {
		switch {
		case stored.OwnedBy(viewer.User.ID), key.Fits(stored.DeleteKey):
			return nil
		case key != "" && stored.DeleteKey != paste.KeyHash{}:
			return paste.ErrWrongKey
		}
		return paste.ErrNotFound
	})
	return paste.ReplaceNotFound(err)
}
