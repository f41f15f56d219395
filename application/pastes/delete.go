package pastes

import (
	"context"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
)

// Delete removes a paste.
type Delete struct{ pastes paste.DocumentDeleter }

// Do removes the paste. It fails with paste.ErrNotFound when there is none with that id and with
// fault.Unavailable when the store does not answer.
func (d *Delete) Do(ctx context.Context, id string) error {
	if !ident.Valid(id) {
		return paste.ErrNotFound
	}
	return paste.Gone(d.pastes.DeleteIf(audit.Note(ctx, "paste.delete", id, ""), paste.ID(id), func(paste.Paste) error { return nil }))
}
