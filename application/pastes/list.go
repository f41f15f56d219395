package pastes

import (
	"context"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/trace"
	"github.com/gluepot/gluepot/domain/user"
)

// List lists the pastes of any user.
type List struct {
	users  user.Finder
	pastes paste.OwnerLister
}

// Do calls visit with each paste of the user with that name, newest first, expired ones that are still
// stored included. It fails with fault.NotFound when there is no such user, with fault.Invalid when the
// name breaks a rule, and with fault.Unavailable when the store does not answer.
func (l *List) Do(ctx context.Context, username string, visit func(paste.Paste) error) (err error) {
	ctx, end := trace.Start(ctx, "pastes.List")
	defer func() { end(err) }()
	owner, err := user.Find(ctx, l.users, username)
	if err != nil {
		return err
	}
	return l.pastes.EachByOwner(ctx, owner.ID, visit)
}
