package pastes

import (
	"context"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/trace"
)

// Delete removes a paste.
type Delete struct{ pastes paste.Deleter }

// Do removes the paste. It fails with paste.ErrNotFound when there is none with that id and with
// fault.Unavailable when the store does not answer.
func (d *Delete) Do(ctx context.Context, id string) (err error) {
	ctx, end := trace.Start(ctx, "pastes.Delete")
	defer func() { end(err) }()
	return paste.Gone(d.pastes.Delete(ctx, paste.ID(id)))
}
