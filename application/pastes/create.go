package pastes

import (
	"context"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// Create creates a paste.
type Create struct {
	users  user.Finder
	pastes paste.Creator
	now    func() time.Time
}

// Do creates a paste of the user with that name, or an anonymous one when the name is empty, and
// returns it. It expires after the given time, or never when it is zero.
//
// It fails with fault.NotFound when there is no such user, with fault.Invalid when the name breaks a rule
// or the time is negative, and with fault.Unavailable when the store does not answer.
func (c *Create) Do(ctx context.Context, owner string, expiresIn time.Duration) (paste.Paste, error) {
	if expiresIn < 0 {
		return paste.Paste{}, fault.New(fault.Invalid, "The paste would have expired already: give it a positive time.")
	}
	created := paste.Paste{CreatedAt: c.now()}
	if owner != "" {
		found, err := user.Find(ctx, c.users, owner)
		if err != nil {
			return paste.Paste{}, err
		}
		created.Owner = found.ID
	}
	if expiresIn > 0 {
		created.ExpiresAt = created.CreatedAt.Add(expiresIn)
	}
	err := ident.Draw(func(id paste.ID) error {
		created.ID = id
		return c.pastes.Create(ctx, created)
	})
	if err != nil {
		return paste.Paste{}, user.Gone(err)
	}
	return created, nil
}
