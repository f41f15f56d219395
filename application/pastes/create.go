package pastes

import (
	"context"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// Create creates a paste of any user.
type Create struct {
	pastes paste.DocumentCreator
	users  user.Finder
	rules  paste.Rules
	now    func() time.Time
}

// Do creates the paste of the draft, whose owner is the user of that name, and returns it; when the name is empty it is
// anonymous. It expires after the given time, or when it is zero as the draft says.
//
// It fails with user.ErrNotFound when there is no such user, with fault.Invalid when the name breaks a rule or the time
// is negative, as CreateOwn does because of the draft, and with fault.Unavailable when the store does not answer.
func (c *Create) Do(ctx context.Context, owner string, expiresIn time.Duration, draft paste.Draft) (paste.Document, error) {
	if expiresIn < 0 {
		return paste.Document{}, fault.New(fault.Invalid, "The paste would have expired already: give it a positive time.")
	}
	made, err := c.rules.Create(draft, owner != "", c.now().Truncate(time.Microsecond))
	if err != nil {
		return paste.Document{}, err
	}
	if owner != "" {
		found, err := user.Find(ctx, c.users, owner)
		if err != nil {
			return paste.Document{}, err
		}
		made.Owner = found.ID
	}
	if expiresIn > 0 {
		made.ExpiresAt = made.CreatedAt.Add(expiresIn)
		made.Lifetime = paste.NearestLifetime(made.CreatedAt, made.ExpiresAt)
	}
	made, err = store(ctx, c.pastes, made)
	return made, user.Gone(err)
}

// Limits returns what one paste may hold, so that a reader of input knows where to stop.
func (c *Create) Limits() paste.Limits { return c.rules.Limits }

// store stores a paste under an id that is free.
func store(ctx context.Context, pastes paste.DocumentCreator, made paste.Document) (paste.Document, error) {
	err := ident.Draw(func(id paste.ID) error {
		made.ID = id
		return pastes.CreateDocument(ctx, made)
	})
	if err != nil {
		return paste.Document{}, err
	}
	return made, nil
}
