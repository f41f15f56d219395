// Package token is about the access tokens that users sign in with.
package token

import (
	"context"
	"crypto/subtle"
	"time"

	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

// ID identifies a token without giving it away.
type ID string

// Hash is the SHA-256 of a secret.
type Hash [32]byte

// Token is what is known about an access token. The secret itself is not kept.
type Token struct {
	ID         ID
	Owner      user.ID
	Hash       Hash
	Name       string // what the owner calls it
	CreatedAt  time.Time
	ExpiresAt  time.Time // zero: never
	LastUsedAt time.Time // zero: never; kept to the minute or so, see application/tokens
	RevokedAt  time.Time // zero: not revoked
}

// errRejected is one error for every reason, so that the answer does not say which it was.
var errRejected = fault.New(fault.Unauthenticated,
	"The access token is missing or not valid. Send a valid one in the Authorization header.")

// Rejected is the fault.Unauthenticated for a token that is missing, malformed, unknown, expired or revoked alike.
func Rejected() error { return errRejected }

// Verify returns Rejected unless the token belongs to the secret with that hash and is valid at now:
// neither revoked nor, from the instant of its expiry on, expired.
func (t Token) Verify(presented Hash, now time.Time) error {
	if subtle.ConstantTimeCompare(t.Hash[:], presented[:]) != 1 {
		return Rejected()
	}
	if !t.RevokedAt.IsZero() || !t.ExpiresAt.IsZero() && !now.Before(t.ExpiresAt) {
		return Rejected()
	}
	return nil
}

// Finder finds tokens.
type Finder interface {
	// ByHash returns the token with that hash, valid or not.
	// It fails with fault.NotFound when there is none and fault.Unavailable when the store does not answer.
	ByHash(ctx context.Context, hash Hash) (Token, error)
}

// AccountFinder finds a token and the account it opens in one round trip.
type AccountFinder interface {
	// AccountByHash returns the token with that hash, valid or not, and its owner's account with the
	// stars whose pastes are active at the moment of reading. Errors are those of Finder.ByHash.
	AccountByHash(ctx context.Context, hash Hash) (Token, user.Account, error)
}

// UseRecorder takes note that a token was used. It must neither block nor fail.
type UseRecorder interface {
	RecordUse(id ID, at time.Time)
}

// UseWriter stores when tokens were last used.
type UseWriter interface {
	// SetLastUsed moves the last-used time of each token forward, never back. Unknown tokens are passed over.
	SetLastUsed(ctx context.Context, uses map[ID]time.Time) error
}

// Creator stores new tokens.
type Creator interface {
	// Create stores a token. It fails with fault.Conflict when the id or the hash is taken, ident.ErrTaken
	// being in the error's chain when it is the id, and with fault.NotFound when the owner does not exist.
	Create(ctx context.Context, created Token) error
}

// OwnerLister lists the tokens of one owner.
type OwnerLister interface {
	// ByOwner returns the owner's tokens, oldest first, revoked and expired ones included.
	ByOwner(ctx context.Context, owner user.ID) ([]Token, error)
}

// Revoker revokes tokens.
type Revoker interface {
	// Revoke makes the token invalid from at on; one that is revoked already stays as it is.
	// It fails with fault.NotFound when there is no token with that id.
	Revoke(ctx context.Context, id ID, at time.Time) error
}

// Importer stores tokens that another installation has made.
type Importer interface {
	// Import stores the tokens, by id, in one transaction: it creates those that are new and gives the
	// others their new hash, which lifts a revocation; the same hash changes nothing. Hashes may move
	// between the tokens in any way. The results are in the tokens' order; one of an unknown owner is
	// refused with fault.NotFound, and one whose hash another token has and keeps with fault.Conflict.
	// An error means that nothing was stored.
	Import(ctx context.Context, tokens []Token) ([]batch.Result, error)
}
