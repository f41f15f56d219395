package pastes

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
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
// anonymous. It fails with user.ErrNotFound when there is no such user, with fault.Invalid when the name breaks a rule, as
// CreateOwn does for a bad draft, and with fault.Unavailable when the store does not answer.
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

// Limits returns the limits of one paste, so that callers can stop reading input.
func (c *Create) Limits() paste.Limits { return c.rules.Limits }

// CreateOwn creates a paste of a signed-in user, or an anonymous one.
type CreateOwn struct {
	pastes        paste.AllowedCreator
	rules         paste.Rules
	tokenRequired bool
	quota         paste.Quota     // of each client that has not signed in
	lifetimes     paste.Lifetimes // of signed-in users
	anonymous     paste.Lifetimes
	allowance     paste.Allowance // of each user
	room          *Room
	keepOrigin    bool
	now           func() time.Time
	created       atomic.Int64
}

// Created is a paste that was created.
type Created struct {
	paste.Document

	Usage paste.Usage     // the use of its client's quota; zero where there is none
	Key   paste.DeleteKey // deletes it if it is anonymous, to be shown once; otherwise empty
}

// Counts reports whether anonymous pastes have a quota. Do then needs the client of a visitor who has not signed in.
func (c *CreateOwn) Counts() bool { return c.quota.Pastes > 0 }

// TokenRequired reports whether creating needs a token.
func (c *CreateOwn) TokenRequired() bool { return c.tokenRequired }

// Lifetimes returns how long a paste of the viewer may live.
func (c *CreateOwn) Lifetimes(viewer token.Viewer) paste.Lifetimes {
	if viewer.SignedIn() {
		return c.lifetimes
	}
	return c.anonymous
}

// Created returns how many pastes Do has created.
func (c *CreateOwn) Created() int64 { return c.created.Load() }

// Allow returns token.Rejected when the viewer may not create any paste.
func (c *CreateOwn) Allow(viewer token.Viewer) error {
	if c.tokenRequired && !viewer.SignedIn() {
		return token.Rejected()
	}
	return nil
}

// Do creates the paste of the draft and returns it. The viewer owns it. A visitor's paste is anonymous, and counts for the
// client's quota. It lives no longer than Lifetimes allow.
//
// It fails as Allow does; with token.Rejected when the viewer has not signed in, and the draft is private, public or tagged,
// and when the viewer was deleted meanwhile; then with a fault.Invalid that names the first field that breaks a rule; then with
// a fault.Exhausted, with a *paste.QuotaError in the chain, when the client or the user has used its quota; with
// fault.Forbidden when it exceeds the user's allowance; and with fault.Unavailable when the installation is full, or the store
// does not answer.
func (c *CreateOwn) Do(ctx context.Context, viewer token.Viewer, client paste.Client, draft paste.Draft) (made Created, err error) {
	if err := c.Allow(viewer); err != nil {
		return Created{}, err
	}
	draft.Lifetime = c.Lifetimes(viewer).Bound(draft.Lifetime)
	if made.Document, err = c.rules.Create(draft, viewer.SignedIn(), c.now().Truncate(time.Microsecond)); err != nil {
		return Created{}, err
	}
	if err := c.room.check(); err != nil {
		return Created{}, err
	}
	var allowance paste.Allowance
	switch {
	case !viewer.SignedIn():
		if c.Counts() {
			allowance.Rate = c.quota
		}
		made.Key = paste.NewDeleteKey()
		made.DeleteKey = made.Key.Hash()
	case !viewer.User.Admin:
		allowance, client = c.allowance, paste.ClientOf(viewer.User.ID)
	}
	made.Owner = viewer.User.ID
	if c.keepOrigin {
		ctx = moderation.KeepingOrigin(ctx)
	}
	err = ident.Draw(func(id paste.ID) (err error) {
		made.ID = id
		made.Usage, err = c.pastes.CreateAllowed(ctx, allowance, client, made.Document)
		return err
	})
	if fault.Is(err, fault.NotFound) {
		err = token.Rejected() // the viewer was deleted meanwhile
	}
	if err != nil {
		return Created{}, err
	}
	c.created.Add(1)
	c.room.add(made.Bytes())
	return made, nil
}
