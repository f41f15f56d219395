package pastes

import (
	"context"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// Delete removes a paste.
type Delete struct{ pastes paste.Deleter }

// Do removes the paste. It fails with fault.NotFound when there is none with that id and with
// fault.Unavailable when the store does not answer.
func (d *Delete) Do(ctx context.Context, id string) error {
	err := d.pastes.Delete(ctx, paste.ID(id))
	if fault.Is(err, fault.NotFound) {
		return errNoSuchPaste
	}
	return err
}

var errNoSuchPaste = fault.New(fault.NotFound, "There is no paste with that id.")
