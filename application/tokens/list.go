package tokens

import (
	"context"
	"slices"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// List lists a user's tokens.
type List struct{ *module }

// Do returns the tokens of the user of that name or id, oldest first, revoked and expired ones included. It fails as user.Find does.
func (l *List) Do(ctx context.Context, username string) ([]token.Token, error) {
	owner, err := user.Find(ctx, l.users, username)
	if err != nil {
		return nil, err
	}
	return l.store.ByOwner(ctx, owner.ID)
}

var errNoToken = fault.New(fault.NotFound, "There is no token with that id.")

// Revoke makes a token invalid.
type Revoke struct{ *module }

// Do makes the token with that id invalid from now on. It fails with fault.NotFound when there is none.
func (r *Revoke) Do(ctx context.Context, id string) error {
	err := r.store.Revoke(audit.Note(ctx, "token.revoke", id, ""), token.ID(id), r.now())
	if fault.Is(err, fault.NotFound) {
		return errNoToken
	}
	return err
}

// RevokeOwn makes an access token of a signed-in user invalid.
type RevokeOwn struct{ revoke *Revoke }

// Do is Revoke.Do for a token of the viewer's.
func (r *RevokeOwn) Do(ctx context.Context, viewer token.Viewer, id string) error {
	if !viewer.SignedIn() {
		return token.Rejected()
	}
	owned, err := r.revoke.store.ByOwner(ctx, viewer.User.ID)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(owned, func(t token.Token) bool { return string(t.ID) == id }) {
		return errNoToken
	}
	return r.revoke.Do(ctx, id)
}
