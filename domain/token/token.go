// Package token is about the access tokens that users sign in with. Each method of a port fails with fault.Unavailable
// when the store does not answer.
//
// A method that takes the client's address as from fails with moderation.ErrBlocked when a block matches it; none
// matches the zero Addr. A method that takes an entry stores it in the audit log in the same transaction, unless it is
// the zero Entry.
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

// ID identifies a token and does not reveal it.
type ID string

// Hash is the SHA-256 of a secret.
type Hash [32]byte

// Kind says what a secret is for.
type Kind uint8

// The kinds. Their values are stored.
const (
	Access  Kind = iota // programs send it with each request, and people sign in with it
	Session             // the cookie of a browser that has signed in
)

// Scope is what a token may do.
type Scope uint8

// The scopes. Their values are stored.
const (
	Write Scope = iota // everything that the owner may do
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
	return Write, fault.New(fault.Invalid, "The scope must be read or write.")
}

// String returns the scope's name.
func (s Scope) String() string {
	if s == Read {
		return "read"
	}
	return "write"
}

// Token describes an access token or a session. The secret itself is not stored.
type Token struct {
	ID         ID
	Owner      user.ID
	Kind       Kind
	Scope      Scope
	Parent     ID // of a session: the access token that started it and with which it ends, if any
	Hash       Hash
	Name       string // the owner's name for it; of a session: the kind of browser
	CreatedAt  time.Time
	ExpiresAt  time.Time // zero: never
	LastUsedAt time.Time // zero: never; accurate to about a minute (see application/tokens)
	RevokedAt  time.Time // zero: not revoked
}

// ErrRejected is the fault.Unauthenticated for a token that is missing, malformed, unknown, expired or revoked. The
// answer does not say which.
var ErrRejected = fault.New(fault.Unauthenticated,
	"The access token is missing or not valid. Send a valid one in the Authorization header.")

// ErrSuspended is the fault.Forbidden for a valid token of a user who is suspended.
var ErrSuspended = fault.New(fault.Forbidden, "This account is suspended. Ask the operator.")

// Verify returns ErrRejected unless the token has that hash and is valid.
func (t Token) Verify(hash Hash, now time.Time) error {
	if subtle.ConstantTimeCompare(t.Hash[:], hash[:]) != 1 || !t.ValidAt(now) {
		return ErrRejected
	}
	return nil
}

// ValidAt reports whether the token is neither revoked nor expired. A session also expires when it is not used for
// SessionIdle.
func (t Token) ValidAt(now time.Time) bool {
	idle := t.Kind == Session && !now.Before(cmp.Or(t.LastUsedAt, t.CreatedAt).Add(SessionIdle))
	return !idle && t.RevokedAt.IsZero() && (t.ExpiresAt.IsZero() || now.Before(t.ExpiresAt))
}

// Viewer is the caller of a use case: the holder of a valid token, or a visitor. The zero Viewer is a visitor.
type Viewer struct {
	User  user.User
	Token Token // that the user has signed in with
}

// SignedIn reports whether the viewer is a user.
func (v Viewer) SignedIn() bool { return v.User.ID != "" }

var errReadOnly = fault.New(fault.Forbidden, "This access token may only read. Use one with the scope write.")

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
	// ByOwner returns the owner's access tokens, oldest first, including revoked and expired ones.
	ByOwner(ctx context.Context, owner user.ID) ([]Token, error)
	// Sessions returns the owner's sessions, latest first, including expired ones that were not removed yet.
	Sessions(ctx context.Context, owner user.ID) ([]Token, error)
	// Export returns everything that is stored about the owner except pastes, as of one instant. It fails with
	// fault.NotFound when there is no such user.
	Export(ctx context.Context, owner user.ID) (Export, error)

	// Create stores an access token. It fails with fault.Conflict when the id or the hash is taken, and wraps
	// ident.ErrTaken if it is the id. It fails with fault.NotFound when the owner does not exist.
	Create(ctx context.Context, from netip.Addr, entry auditlog.Entry, token Token) error
	// StartSession stores a session. It removes the session that it replaces, the owner's expired ones, and the oldest
	// beyond MaxSessions. It fails as Create does, with fault.NotFound when the parent is missing or revoked, and with
	// ErrSuspended.
	StartSession(ctx context.Context, from netip.Addr, session Token, replaces Hash) error
	// SetLastUsed sets the last-used time of each token, but never moves it back. It skips unknown tokens.
	SetLastUsed(ctx context.Context, uses map[ID]time.Time) error

	// Revoke makes the access token invalid from at on, and ends the sessions that it started. It does not change a token
	// that is already revoked. It fails with fault.NotFound when there is no access token with that id.
	Revoke(ctx context.Context, from netip.Addr, entry auditlog.Entry, id ID, at time.Time) error

	// EndSessionByHash ends the session with that hash, if there is one.
	EndSessionByHash(ctx context.Context, hash Hash) error
	// EndSession ends the owner's session with that id. It fails with fault.NotFound when there is none.
	EndSession(ctx context.Context, from netip.Addr, owner user.ID, id ID) error
	// EndSessions ends the owner's sessions except the one with that id, and returns how many.
	EndSessions(
		ctx context.Context, from netip.Addr, entry auditlog.Entry, owner user.ID, except ID,
	) (count int, err error)

	// Import stores the tokens in order, in one transaction. It creates new ones and gives others their new hash, which
	// lifts a revocation and ends their sessions; the same hash changes nothing. The results are in the order of the
	// tokens. A token whose owner was deleted here results in batch.RemovedEarlier. A token of an unknown owner is refused
	// with fault.NotFound, and one whose hash another token has with fault.Conflict. If Import fails, it stores nothing.
	Import(ctx context.Context, tokens []Token) ([]batch.Result, error)
}

// Export is everything that is stored about a user except pastes.
type Export struct {
	user.Account

	FormerNames []string // that still lead to the user, in lower case, latest first
	Tokens      []Token  // from Store.ByOwner
	Sessions    []Token  // from Store.Sessions
}
