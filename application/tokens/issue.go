package tokens

import (
	"context"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/trace"
	"github.com/gluepot/gluepot/domain/user"
)

// Issue gives a user a new access token.
type Issue struct {
	users  user.Finder
	tokens token.Creator
	now    func() time.Time
}

// Do returns a new token of the user with that name, and its secret, which is not kept: nobody can show
// it again. The token expires after the given time, or never when it is zero.
//
// It fails with fault.NotFound when there is no such user, with fault.Invalid when the token's name is
// longer than 64 bytes or not printable or the time is negative, and with fault.Unavailable when the store does not answer.
func (i *Issue) Do(ctx context.Context, username, tokenName string, expiresIn time.Duration) (_ token.Token, _ token.Secret, err error) {
	ctx, end := trace.Start(ctx, "tokens.Issue")
	defer func() { end(err) }()
	if !ident.Printable(tokenName, 64) {
		return token.Token{}, token.Secret{}, fault.New(fault.Invalid, "The token's name is not printable text of at most 64 bytes.")
	}
	if expiresIn < 0 {
		return token.Token{}, token.Secret{}, fault.New(fault.Invalid, "The token would have expired already: give it a positive time.")
	}
	owner, err := user.Find(ctx, i.users, username)
	if err != nil {
		return token.Token{}, token.Secret{}, err
	}
	secret, now := token.Generate(), i.now()
	issued := token.Token{Owner: owner.ID, Hash: secret.Hash(), Name: tokenName, CreatedAt: now}
	if expiresIn > 0 {
		issued.ExpiresAt = now.Add(expiresIn)
	}
	err = ident.Draw(func(id token.ID) error {
		issued.ID = id
		return i.tokens.Create(ctx, issued)
	})
	if err != nil {
		return token.Token{}, token.Secret{}, user.Gone(err)
	}
	return issued, secret, nil
}
