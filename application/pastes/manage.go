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

// NewCreate returns the use case.
func NewCreate(users user.Finder, pastes paste.Creator, now func() time.Time) *Create {
	return &Create{users: users, pastes: pastes, now: now}
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

// Star adds a paste to a user's stars.
type Star struct {
	users  user.Finder
	pastes paste.Starrer
}

// NewStar returns the use case.
func NewStar(users user.Finder, pastes paste.Starrer) *Star {
	return &Star{users: users, pastes: pastes}
}

// Do adds the paste to the end of the stars of the user with that name; a second time changes nothing.
// The paste need not exist yet: the star shows while it does.
//
// It fails with fault.NotFound when there is no such user, with fault.Invalid when the name or the id
// breaks a rule, and with fault.Unavailable when the store does not answer.
func (s *Star) Do(ctx context.Context, username, id string) error {
	starrer, err := user.Find(ctx, s.users, username)
	if err != nil {
		return err
	}
	if !ident.Valid(id) {
		return fault.New(fault.Invalid, "The paste id is not 1 to 64 letters, digits, '-' or '_'.")
	}
	return user.Gone(s.pastes.Star(ctx, starrer.ID, paste.ID(id)))
}

var errNoSuchPaste = fault.New(fault.NotFound, "There is no paste with that id.")

// Unstar takes a paste out of a user's stars.
type Unstar struct {
	users  user.Finder
	pastes paste.Unstarrer
}

// NewUnstar returns the use case.
func NewUnstar(users user.Finder, pastes paste.Unstarrer) *Unstar {
	return &Unstar{users: users, pastes: pastes}
}

// Do takes the paste out of the stars of the user with that name. It fails with fault.NotFound when
// there is no such user or star, with fault.Invalid when the name breaks a rule, and with
// fault.Unavailable when the store does not answer.
func (u *Unstar) Do(ctx context.Context, username, id string) error {
	starrer, err := user.Find(ctx, u.users, username)
	if err != nil {
		return err
	}
	err = u.pastes.Unstar(ctx, starrer.ID, paste.ID(id))
	if err != nil && fault.KindOf(err) == fault.NotFound {
		return fault.New(fault.NotFound, "The user has no star for a paste with that id.")
	}
	return err
}

// List lists the pastes of any user.
type List struct {
	users  user.Finder
	pastes paste.OwnerReader
}

// NewList returns the use case.
func NewList(users user.Finder, pastes paste.OwnerReader) *List {
	return &List{users: users, pastes: pastes}
}

// Do calls visit with each paste of the user with that name, newest first, expired ones that are still
// stored included. It fails with fault.NotFound when there is no such user, with fault.Invalid when the
// name breaks a rule, and with fault.Unavailable when the store does not answer.
func (l *List) Do(ctx context.Context, username string, visit func(paste.Paste) error) error {
	owner, err := user.Find(ctx, l.users, username)
	if err != nil {
		return err
	}
	return l.pastes.EachOf(ctx, owner.ID, visit)
}

// Delete removes a paste.
type Delete struct{ pastes paste.Deleter }

// NewDelete returns the use case.
func NewDelete(pastes paste.Deleter) *Delete { return &Delete{pastes: pastes} }

// Do removes the paste. It fails with fault.NotFound when there is none with that id and with
// fault.Unavailable when the store does not answer.
func (d *Delete) Do(ctx context.Context, id string) error {
	err := d.pastes.Delete(ctx, paste.ID(id))
	if err != nil && fault.KindOf(err) == fault.NotFound {
		return errNoSuchPaste
	}
	return err
}
