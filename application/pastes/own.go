package pastes

import (
	"context"
	"time"

	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
)

// own is what changes pastes of a signed-in user.
type own struct {
	tokens token.Finder
	signIn *token.Authenticator
}

// write calls do to change the paste with that id at that instant; do looks the token up by the hash and goes on only when
// admit accepts it.
//
// It fails with fault.Unauthenticated when the secret is empty, malformed, unknown, expired or revoked; then with
// paste.ErrNotFound when the id names nothing; and otherwise as do does.
func (o own) write(
	ctx context.Context, presented, id string, do func(hash token.Hash, at time.Time, admit func(token.Token) error) error,
) error {
	var failure error // after the token was accepted
	_, err := o.signIn.AuthenticateAt(presented, func(hash token.Hash, at time.Time) (holder token.Token, err error) {
		if !ident.Valid(id) {
			failure = paste.ErrNotFound
			return o.tokens.ByHash(ctx, hash)
		}
		admitted := false
		err = do(hash, at, func(found token.Token) error {
			holder = found
			err := found.Verify(hash, at)
			admitted = err == nil
			return err
		})
		if admitted {
			failure, err = paste.Gone(err), nil
		}
		return holder, err
	})
	if err != nil {
		return err
	}
	return failure
}
