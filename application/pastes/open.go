package pastes

import (
	"context"

	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
)

// Open reads a paste that burns after reading.
type Open struct{ pastes paste.DocumentBurner }

// Do removes the paste with that id and returns it, once and to one caller, as the viewer would have seen it.
//
// It fails with paste.ErrNotFound, whatever the reason, for a paste that does not exist, has expired or was opened, that does not
// burn, or is another user's private one; and with fault.Unavailable when the store does not answer: the paste may be gone then.
func (o *Open) Do(ctx context.Context, viewer token.Viewer, id string) (paste.Document, error) {
	if !ident.Valid(id) {
		return paste.Document{}, paste.ErrNotFound
	}
	opened, err := o.pastes.Burn(ctx, paste.ID(id), viewer.User.ID)
	if err != nil {
		return paste.Document{}, paste.Gone(err)
	}
	if !opened.OwnedBy(viewer.User.ID) {
		opened.Tags = nil
	}
	return opened, nil
}
