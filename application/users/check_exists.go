package users

import (
	"context"

	"github.com/gluepot/gluepot/domain/user"
)

// CheckExists tells whether a username is taken.
type CheckExists struct{ users user.StaleFinder }

// Do returns nil when a user with that name exists, fault.NotFound when none does, and
// fault.Unavailable when the store does not answer. A name outside the rules names no user and is not looked up.
func (c *CheckExists) Do(ctx context.Context, name string) error {
	_, err := find(ctx, c.users, name)
	return err
}
