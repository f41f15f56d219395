// Package token is about the access tokens that users sign in with. Each method of a port fails with fault.Unavailable
// when the store does not answer.
//
// A method fails with moderation.ErrBlocked when the address from, of the client that it is for, is in a blocked
// network. The zero Addr never is. One that takes an entry stores it in the audit log, in the same transaction, unless
// it is the zero Entry.
package token

import (
	"cmp"
	"context"
	"crypto/subtle"
	"net/netip"
	"time"

	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

// ID identifies a token without giving it away.
type ID string

// Hash is the SHA-256 of a secret.
type Hash [32]byte

// Kind says what a secret is for.
type Kind uint8

// The kinds, as they are stored.
const (
	Access  Kind = iota // programs send it with each request, and people sign in with it
	Session             // a browser that has signed in holds it
)

// Scope is what a token may do.
type Scope uint8

// The scopes, as they are stored.
const (
	Write Scope = iota // everything that its owner may
	Read               // only reading
)

// ParseScope returns the scope with that name, read or write. It fails with fault.Invalid.
func ParseScope(name string) (Scope, error) {
	switch name {
	case "write":
		return Write, nil
	case "read":
		return Read, nil
	}
	return Write, fault.New(fault.Invalid, "The scope is neither read nor write.")
}

// String returns the scope's name.
func (s Scope) String() string {
	if s == Read {
		return "read"
	}
	return "write"
}

// Token is what is known about an access token or a session. The secret itself is not kept.
type Token struct {
	ID         ID
	Owner      user.ID
	Kind       Kind
	Scope      Scope
	Parent     ID // of a session: the access token that it was made with, and ends with, if any
	Hash       Hash
	Name       string // what the owner calls it; of a session: what kind of browser it is in
	CreatedAt  time.Time
	ExpiresAt  time.Time // zero: never
	LastUsedAt time.Time // zero: never; kept to the minute or so, see application/tokens
	RevokedAt  time.Time // zero: not revoked
}

// ErrRejected is the fault.Unauthenticated for a token that is missing, malformed, unknown, expired or revoked alike,
// so that the answer does not say which it was.
var ErrRejected = fault.New(fault.Unauthenticated,
	"The access token is missing or not valid. Send a valid one in the Authorization header.")

// ErrSuspended is the fault.Forbidden for a valid token of a user who is suspended.
var ErrSuspended = fault.New(fault.Forbidden, "This account is suspended. Ask the operator.")

// Verify returns ErrRejected unless the token belongs to the secret with that hash and is valid at now.
func (t Token) Verify(presented Hash, now time.Time) error {
	if subtle.ConstantTimeCompare(t.Hash[:], presented[:]) != 1 || !t.ValidAt(now) {
		return ErrRejected
	}
	return nil
}

// ValidAt reports whether the token is neither revoked nor expired. A session also expires when it was not used for
// SessionIdle.
func (t Token) ValidAt(now time.Time) bool {
	idle := t.Kind == Session && !now.Before(cmp.Or(t.LastUsedAt, t.CreatedAt).Add(SessionIdle))
	return !idle && t.RevokedAt.IsZero() && (t.ExpiresAt.IsZero() || now.Before(t.ExpiresAt))
}

// Viewer is the caller of a use case: the holder of a valid token or, as the zero Viewer, a visitor who has not signed
// in.
type Viewer struct {
	User  user.User
	Token Token // that the user has signed in with
}

// SignedIn reports whether the viewer is a user.
func (v Viewer) SignedIn() bool { return v.User.ID != "" }

var errReadOnly = fault.New(fault.Forbidden, "The access token may only read. Send one with the scope write.")

// MayWrite returns a fault.Forbidden when the viewer's token may only read.
func (v Viewer) MayWrite() error {
	if v.Token.Scope == Read {
		return errReadOnly
	}
	return nil
}

// Store keeps access tokens and sessions.
type Store interface {
	// ByHash returns the token with that hash, valid or not, and its owner. It fails with fault.NotFound when there is
	// none.
	ByHash(ctx context.Context, hash Hash) (Token, user.User, error)
	// ByOwner returns the owner's access tokens, oldest first, revoked and expired ones included.
	ByOwner(ctx context.Context, owner user.ID) ([]Token, error)
	// Sessions returns the owner's sessions, the latest first, including expired ones that were not removed yet.
	Sessions(ctx context.Context, owner user.ID) ([]Token, error)
	// Export returns the owner's account with all that belongs to it except pastes, as it was at one instant. It fails
	// with fault.NotFound when there is no such user.
	Export(ctx context.Context, owner user.ID) (Export, error)

	// Create stores an access token. It fails with fault.Conflict when the id or the hash is taken, ident.ErrTaken
	// being in the error's chain when it is the id, and with fault.NotFound when the owner does not exist.
	Create(ctx context.Context, from netip.Addr, entry auditlog.Entry, created Token) error
	// StartSession stores a session. It removes the one that it replaces, and the owner's expired ones and the oldest
	// beyond MaxSessions. It fails as Create does, with fault.NotFound when its parent is revoked or not there, and with
	// ErrSuspended.
	StartSession(ctx context.Context, from netip.Addr, started Token, replaces Hash) error
	// SetLastUsed moves the last-used time of each token forward, never back. Unknown tokens are skipped.
	SetLastUsed(ctx context.Context, uses map[ID]time.Time) error

	// Revoke makes the access token invalid from at on, and ends the sessions that were made with it; one that is revoked
	// already stays as it is. It fails with fault.NotFound when there is no access token with that id.
	Revoke(ctx context.Context, from netip.Addr, entry auditlog.Entry, id ID, at time.Time) error

	// EndPresented ends the session with that hash, if there is one.
	EndPresented(ctx context.Context, hash Hash) error
	// EndSession ends the owner's session with that id. It fails with fault.NotFound when there is none.
	EndSession(ctx context.Context, from netip.Addr, owner user.ID, id ID) error
	// EndSessions ends the owner's sessions except the one with that id, and returns how many.
	EndSessions(
		ctx context.Context, from netip.Addr, entry auditlog.Entry, owner user.ID, but ID,
	) (ended int, err error)

	// Import stores the tokens one by one, in one transaction: it creates new ones and gives the others their new hash,
	// which lifts a revocation and ends their sessions; the same hash changes nothing. The results are in the tokens'
	// order. A token whose owner was deleted here is batch.RemovedEarlier. One of an unknown owner is refused with
	// fault.NotFound, and one whose hash another token has at that moment with fault.Conflict. An error means that nothing
	// was stored.
	Import(ctx context.Context, tokens []Token) ([]batch.Result, error)
}

// Export is what is stored about a user, without pastes.
type Export struct {
	user.Account

	FormerNames []string // in lower case, that lead to the user, the latest first
	Tokens      []Token  // as Store.ByOwner returns them
	Sessions    []Token  // as Store.Sessions returns them
}
