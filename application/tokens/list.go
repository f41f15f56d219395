package tokens

import (
	"context"

	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// List lists a user's tokens.
type List struct {
	users  user.Finder
	tokens token.OwnerLister
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
