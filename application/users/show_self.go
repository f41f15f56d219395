package users

import (
	"context"

	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/trace"
	"github.com/gluepot/gluepot/domain/user"
)

// ShowSelf shows signed-in users their own account.
type ShowSelf struct {
	accounts token.AccountFinder
	signIn   *token.Authenticator
}

// Do returns the account that the secret opens. It fails with fault.Unauthenticated when the secret is
// empty, malformed, unknown, expired or revoked, and with fault.Unavailable when the store does not answer.
func (s *ShowSelf) Do(ctx context.Context, presented string) (_ user.Account, err error) {
	ctx, end := trace.Start(ctx, "users.ShowSelf")
	defer func() { end(err) }()
	var account user.Account
	_, err = s.signIn.Authenticate(presented, func(hash token.Hash) (found token.Token, err error) {
		found, account, err = s.accounts.AccountByHash(ctx, hash) // both in one round trip
		return found, err
	})
	if err != nil {
		return user.Account{}, err
	}
	return account, nil
}
