package pastes

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/trace"
)

// CreateOwn creates a paste of a signed-in user, or an anonymous one.
type CreateOwn struct {
	pastes        paste.DocumentCreator
	tokens        token.Finder
	signIn        *token.Authenticator
	rules         paste.Rules
	tokenRequired bool
	now           func() time.Time
	created       atomic.Int64
}

// Created returns how many pastes it has created.
func (c *CreateOwn) Created() int64 { return c.created.Load() }

// Do creates the paste of the draft, whose owner is that of the secret, and returns it; without a secret it is anonymous.
//
// It fails with fault.Unauthenticated when the secret is malformed, unknown, expired or revoked, when there is none
// although the installation demands one, and when there is none and the draft is private, public or tagged; then
// with a fault.Invalid that names the first field that breaks a rule; and with fault.Unavailable when the store does not answer.
func (c *CreateOwn) Do(ctx context.Context, presented string, draft paste.Draft) (made paste.Document, err error) {
	ctx, end := trace.Start(ctx, "pastes.CreateOwn")
	defer func() { end(err) }()
	if presented == "" {
		made, err = c.createAnonymously(ctx, draft)
	} else {
		made, err = c.createOwned(ctx, presented, draft)
	}
	if err == nil {
		c.created.Add(1)
	}
	return made, err
}

func (c *CreateOwn) createOwned(ctx context.Context, presented string, draft paste.Draft) (paste.Document, error) {
	var (
		made    paste.Document
		invalid error
	)
	holder, err := c.signIn.AuthenticateAt(presented, func(hash token.Hash, at time.Time) (holder token.Token, err error) {
		if made, invalid = c.rules.Create(draft, true, at); invalid != nil {
			return c.tokens.ByHash(ctx, hash) // a token that is not valid is the first thing to say
		}
		err = ident.Draw(func(id paste.ID) error {
			made.ID = id
			holder, err = c.pastes.CreateOwnDocument(ctx, hash, made)
			return err
		})
		return holder, err
	})
	if err == nil {
		err = invalid
	}
	if err != nil {
		return paste.Document{}, err
	}
	made.Owner = holder.Owner
	return made, nil
}

func (c *CreateOwn) createAnonymously(ctx context.Context, draft paste.Draft) (paste.Document, error) {
	if c.tokenRequired {
		return paste.Document{}, token.Rejected()
	}
	made, err := c.rules.Create(draft, false, c.now().Truncate(time.Microsecond))
	if err != nil {
		return paste.Document{}, err
	}
	return store(ctx, c.pastes, made)
}

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

// Refuse returns the error to answer a request with that holds no draft, because of cause: that of a secret with
// which Do would fail, otherwise cause.
func (c *CreateOwn) Refuse(ctx context.Context, presented string, cause error) error {
	if presented == "" {
		if c.tokenRequired {
			return token.Rejected()
		}
		return cause
	}
	_, err := c.signIn.Authenticate(presented, func(hash token.Hash) (token.Token, error) { return c.tokens.ByHash(ctx, hash) })
	if err != nil {
		return err
	}
	return cause
}
