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
	pastes        creator
	tokens        token.Finder
	signIn        *token.Authenticator
	rules         paste.Rules
	tokenRequired bool
	quota         paste.Quota // of each client that has no token
	now           func() time.Time
	created       atomic.Int64
}

// creator is what CreateOwn needs of a store.
type creator interface {
	paste.DocumentCreator
	paste.CountedCreator
}

// Visitor is who asks for a paste.
type Visitor struct {
	Secret string       // an access token; empty: the paste is anonymous
	Client paste.Client // whose quota an anonymous paste counts for, see Counts
}

// Created is a paste that was created.
type Created struct {
	paste.Document

	Usage paste.Usage // of the quota of its client; zero where it is not counted
}

// Counts reports whether anonymous pastes are counted, so that a visitor without a secret must be a Client.
func (c *CreateOwn) Counts() bool { return c.quota.Pastes > 0 }

// TokenRequired reports whether nobody may create a paste without a secret.
func (c *CreateOwn) TokenRequired() bool { return c.tokenRequired }

// Created returns how many pastes it has created.
func (c *CreateOwn) Created() int64 { return c.created.Load() }

// Do creates the paste of the draft, whose owner is that of the visitor's secret, and returns it; without a secret it is
// anonymous.
//
// It fails with fault.Unauthenticated when the secret is malformed, unknown, expired or revoked, when there is none
// although the installation demands one, and when there is none and the draft is private, public or tagged; then
// with a fault.Invalid that names the first field that breaks a rule; then with a fault.Exhausted, with a
// *paste.QuotaError in the chain, when it would be anonymous and the client has used its quota; and with
// fault.Unavailable when the store does not answer.
func (c *CreateOwn) Do(ctx context.Context, visitor Visitor, draft paste.Draft) (made Created, err error) {
	ctx, end := trace.Start(ctx, "pastes.CreateOwn")
	defer func() { end(err) }()
	if visitor.Secret == "" {
		made, err = c.createAnonymously(ctx, visitor.Client, draft)
	} else {
		made.Document, err = c.createOwned(ctx, visitor.Secret, draft)
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

func (c *CreateOwn) createAnonymously(ctx context.Context, client paste.Client, draft paste.Draft) (made Created, err error) {
	if c.tokenRequired {
		return Created{}, token.Rejected()
	}
	if made.Document, err = c.rules.Create(draft, false, c.now().Truncate(time.Microsecond)); err != nil {
		return Created{}, err
	}
	if !c.Counts() {
		made.Document, err = store(ctx, c.pastes, made.Document)
		return made, err
	}
	err = ident.Draw(func(id paste.ID) error {
		made.ID = id
		made.Usage, err = c.pastes.CreateCounted(ctx, client, c.quota, made.Document)
		return err
	})
	if err != nil {
		return Created{}, err
	}
	return made, nil
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
