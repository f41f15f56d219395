package pastes

import (
	"context"

	"github.com/gluepot/gluepot/domain/paste"
)

// Delete removes a paste.
type Delete struct{ pastes paste.Deleter }

// Do removes the paste. It fails with paste.ErrNotFound when there is none with that id and with
// fault.Unavailable when the store does not answer.
func (d *Delete) Do(ctx context.Context, id string) error {
	return paste.Gone(d.pastes.Delete(ctx, paste.ID(id)))
}
