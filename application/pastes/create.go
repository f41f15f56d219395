package pastes

import (
	"context"
	"time"

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
// anonymous. It fails with user.ErrNotFound when there is no such user, with fault.Invalid when the name breaks a rule, as CreateOwn does
// because of the draft, and with fault.Unavailable when the store does not answer.
func (c *Create) Do(ctx context.Context, owner string, draft paste.Draft) (paste.Document, error) {
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
	err = ident.Draw(func(id paste.ID) error {
		made.ID = id
		return c.pastes.CreateDocument(ctx, made)
	})
	if err != nil {
		return paste.Document{}, user.Gone(err)
	}
	return made, nil
}

// Limits returns what one paste may hold, so that a reader of input knows where to stop.
func (c *Create) Limits() paste.Limits { return c.rules.Limits }
