package users

import (
	"context"

	"github.com/gluepot/gluepot/domain/trace"
	"github.com/gluepot/gluepot/domain/user"
)

// Delete removes a user.
type Delete struct{ users user.Deleter }

// Do removes the user with that name, and with the user its tokens, stars and pastes, and returns its id.
// It fails with fault.NotFound when there is none, with fault.Invalid when the name breaks a rule, and with
// fault.Unavailable when the store does not answer.
func (d *Delete) Do(ctx context.Context, name string) (_ user.ID, err error) {
	ctx, end := trace.Start(ctx, "users.Delete")
	defer func() { end(err) }()
	parsed, err := user.ParseName(name)
	if err != nil {
		return "", err
	}
	id, err := d.users.Delete(ctx, parsed)
	if err != nil {
		return "", user.Gone(err)
	}
	return id, nil
}
