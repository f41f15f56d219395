package pastes

import (
	"context"
	"net/netip"
	"sync/atomic"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// Create creates a paste of any user, for the operator.
type Create struct{ *module }

// Do creates the paste of the draft and returns it. Its owner is the user of that name or id (see user.Find); when
// owner is empty, the paste is anonymous. It fails with fault.Forbidden unless the actor is the operator, as user.Find
// does, and as CreateOwn does for a bad draft.
func (c *Create) Do(ctx context.Context, actor audit.Actor, owner string, draft paste.Draft) (paste.Document, error) {
	if err := actor.CheckOperator(); err != nil {
		return paste.Document{}, err
	}
	created, err := c.options.Rules.Create(draft, owner != "", c.now())
	if err != nil {
		return paste.Document{}, err
	}
	if owner != "" {
		account, err := user.Find(ctx, c.users, owner)
		if err != nil {
			return paste.Document{}, err
		}
		created.Owner = account.ID
	}
	err = ident.Draw(func(id paste.ID) error {
		created.ID = id
		return c.store.CreateDocument(ctx, created)
	})
	return created, user.ReplaceNotFound(err)
}

// Limits returns the limits of one paste, so that callers can stop reading input.
func (c *Create) Limits() paste.Limits { return c.options.Rules.Limits }

// CreateOwn creates a paste of a signed-in user, or an anonymous one.
type CreateOwn struct {
	*module

	created atomic.Int64
}

// NewPaste is a paste that was created.
type NewPaste struct {
	paste.Document

	Usage paste.Usage     // of the quota that it counts for; zero where there is none
	Key   paste.DeleteKey // deletes it if it is anonymous, to be shown once; otherwise empty
}

// HasQuota reports whether anonymous pastes have a quota. Do then needs the address of a visitor.
func (c *CreateOwn) HasQuota() bool { return c.options.AnonymousQuota.Pastes > 0 }

// Lifetimes returns how long a paste of the viewer may live.
func (c *CreateOwn) Lifetimes(viewer token.Viewer) paste.Lifetimes {
	if viewer.SignedIn() {
		return c.options.Lifetimes
	}
	return c.options.AnonymousLifetimes
}

// Count returns how many pastes Do has created.
func (c *CreateOwn) Count() int64 { return c.created.Load() }

// Allow returns token.ErrRejected when the viewer may not create any paste.
func (c *CreateOwn) Allow(viewer token.Viewer) error {
	if c.options.TokenRequired && !viewer.SignedIn() {
		return token.ErrRejected
	}
	return nil
}

// allowance returns what a viewer may create, and the client that it counts for.
func (c *CreateOwn) allowance(viewer token.Viewer, from netip.Addr) (paste.Allowance, paste.Client) {
	switch {
	case !viewer.SignedIn():
		return paste.Allowance{Rate: c.options.AnonymousQuota}, paste.ClientAt(from)
	case !viewer.User.Admin:
		return c.options.Allowance, paste.ClientOf(viewer.User.ID)
	}
	return paste.Allowance{}, ""
}

// Do creates the paste of the draft and returns it. The viewer owns it. A visitor's paste is anonymous, and counts for
// the quota of the visitor's address. It lives no longer than Lifetimes allow.
//
// It fails as Allow does; then as paste.Rules.Create does; with fault.Unavailable when the installation is full; then
// with a fault.Exhausted, with a *paste.QuotaError in the chain, when the client or the user has used its quota; with
// fault.Forbidden when it exceeds the user's allowance; with token.ErrRejected when the viewer was deleted meanwhile;
// and with token.ErrSuspended when the viewer's pastes are hidden by now.
func (c *CreateOwn) Do(ctx context.Context, actor audit.Actor, draft paste.Draft) (created NewPaste, err error) {
	viewer, err := actor.Writer()
	if err != nil {
		return NewPaste{}, err
	}
	if err := c.Allow(viewer); err != nil {
		return NewPaste{}, err
	}
	draft.Lifetime = c.Lifetimes(viewer).Bound(draft.Lifetime)
	if created.Document, err = c.options.Rules.Create(draft, viewer.SignedIn(), c.now()); err != nil {
		return NewPaste{}, err
	}
	if err := c.sizeLimit.check(); err != nil {
		return NewPaste{}, err
	}
	allowance, client := c.allowance(viewer, actor.Address())
	if !viewer.SignedIn() {
		created.Key = paste.NewDeleteKey()
		created.DeleteKey = created.Key.Hash()
	}
	created.Owner = viewer.User.ID
	if c.options.OriginRetention > 0 {
		created.CreatedFrom = actor.Address()
	}
	err = ident.Draw(func(id paste.ID) (err error) {
		created.ID = id
		created.Usage, err = c.store.CreateAllowed(ctx, actor.Address(), allowance, client, created.Document)
		return err
	})
	if err != nil {
		return NewPaste{}, fault.Replace(err, fault.NotFound, token.ErrRejected) // the viewer was deleted meanwhile
	}
	c.created.Add(1)
	c.sizeLimit.add(created.Bytes())
	return created, nil
}
