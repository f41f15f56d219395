package tokens

import (
	"context"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// List lists a user's tokens.
type List struct {
	users  user.Finder
	tokens token.OwnerLister
}

// NewList returns the use case.
func NewList(users user.Finder, tokens token.OwnerLister) *List {
	return &List{users: users, tokens: tokens}
}

// Do returns the tokens of the user with that name, oldest first, revoked and expired ones included.
// It fails with fault.NotFound when there is no such user, with fault.Invalid when the name breaks a
// rule, and with fault.Unavailable when the store does not answer.
func (l *List) Do(ctx context.Context, username string) ([]token.Token, error) {
	owner, err := user.Find(ctx, l.users, username)
	if err != nil {
		return nil, err
	}
	return l.tokens.ByOwner(ctx, owner.ID)
}

// Revoke makes a token invalid.
type Revoke struct {
	tokens token.Revoker
	now    func() time.Time
}

// NewRevoke returns the use case.
func NewRevoke(tokens token.Revoker, now func() time.Time) *Revoke {
	return &Revoke{tokens: tokens, now: now}
}

// Do makes the token with that id invalid from now on. It fails with fault.NotFound when there is none
// and with fault.Unavailable when the store does not answer.
func (r *Revoke) Do(ctx context.Context, id string) error {
	err := r.tokens.Revoke(ctx, token.ID(id), r.now())
	if err != nil && fault.KindOf(err) == fault.NotFound {
		return fault.New(fault.NotFound, "There is no token with that id.")
	}
	return err
}
