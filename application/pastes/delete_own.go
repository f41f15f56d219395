package pastes

import (
	"context"
	"time"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/trace"
)

// DeleteOwn removes a paste of a signed-in user.
type DeleteOwn struct {
	pastes paste.DocumentDeleter
	own    own
}

// Do removes the paste with that id, which belongs to the secret's owner; it may be encrypted.
//
// It fails with fault.Unauthenticated when the secret is empty, malformed, unknown, expired or revoked; then with
// paste.ErrNotFound when there is no such paste, it has expired, or is not the owner's; and with fault.Unavailable when the
// store does not answer.
func (d *DeleteOwn) Do(ctx context.Context, presented, id string) (err error) {
	ctx, end := trace.Start(ctx, "pastes.DeleteOwn")
	defer func() { end(err) }()
	return d.own.write(ctx, presented, id, func(hash token.Hash, _ time.Time, admit func(token.Token) error) error {
		return d.pastes.DeleteIf(ctx, paste.ID(id), hash, func(holder token.Token, stored paste.Paste) error {
			if err := admit(holder); err != nil {
				return err
			}
			if !stored.OwnedBy(holder.Owner) {
				return paste.ErrNotFound
			}
			return nil
		})
	})
}
