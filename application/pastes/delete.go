package pastes

import (
	"context"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/trace"
)

// Delete removes a paste.
type Delete struct{ pastes paste.DocumentDeleter }

// Do removes the paste. It fails with paste.ErrNotFound when there is none with that id and with
// fault.Unavailable when the store does not answer.
func (d *Delete) Do(ctx context.Context, id string) (err error) {
	ctx, end := trace.Start(ctx, "pastes.Delete")
	defer func() { end(err) }()
	if !ident.Valid(id) {
		return paste.ErrNotFound
	}
	return paste.Gone(d.pastes.DeleteIf(audit.Note(ctx, "paste.delete", id, ""), paste.ID(id), func(paste.Paste) error { return nil }))
}
