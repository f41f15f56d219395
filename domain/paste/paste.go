// Package paste is about code snippets: whose they are and how long they live.
package paste

import (
	"context"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// ID identifies a paste.
type ID string

// Paste is a snippet without its content.
type Paste struct {
	ID        ID
	Owner     user.ID // empty: anonymous
	CreatedAt time.Time
	ExpiresAt time.Time // zero: never
}

// ActiveAt reports whether the paste has not expired at now. It expires at the instant of ExpiresAt.
func (p Paste) ActiveAt(now time.Time) bool {
	return p.ExpiresAt.IsZero() || p.ExpiresAt.After(now)
}

// Validate returns a fault.Invalid that names the first field that breaks a rule.
func (p Paste) Validate() error {
	switch {
	case !ident.Valid(string(p.ID)):
		return fault.New(fault.Invalid, "The paste id is not 1 to 64 letters, digits, '-' or '_'.")
	case p.Owner != "" && !ident.Valid(string(p.Owner)):
		return fault.New(fault.Invalid, "The owner's id is not 1 to 64 letters, digits, '-' or '_'.")
	case p.CreatedAt.IsZero():
		return fault.New(fault.Invalid, "The paste has no creation time.")
	}
	return nil
}

// Counter counts pastes.
type Counter interface {
	// ActiveCount returns how many pastes are active at the moment of reading, exactly and whoever has
	// written them. It fails with fault.Unavailable when the store does not answer.
	ActiveCount(ctx context.Context) (int64, error)
}

// ActiveIDLister lists the ids of one owner's active pastes.
type ActiveIDLister interface {
	// EachActiveID calls visit with the id of each of owner's pastes that is active at the moment of
	// reading, newest first, ties by descending id. An error of visit ends the walk and is returned;
	// otherwise it fails with fault.Unavailable when the store does not answer.
	EachActiveID(ctx context.Context, owner user.ID, visit func(ID) error) error
}

// HeldIDFinder finds a token and the pastes of its owner in one round trip, as long as these are not many.
type HeldIDFinder interface {
	// HeldIDs returns the token with that hash, valid or not, and the ids that EachActiveID would visit for its owner. Of more
	// than a store likes to read at once, as many as it says, it returns none and all is false; so it may of a token that is
	// not valid.
	// It fails with fault.NotFound when there is no such token and fault.Unavailable when the store does not answer.
	HeldIDs(ctx context.Context, hash token.Hash) (holder token.Token, ids []ID, all bool, err error)
}

// ExpiredRemover removes pastes whose time is over.
type ExpiredRemover interface {
	// RemoveExpired removes at most limit pastes that have been expired for grace or longer, by the store's
	// clock, oldest expiry first, and returns how many. It removes none while another node is removing some.
	RemoveExpired(ctx context.Context, grace time.Duration, limit int) (int, error)
}

// Starrer remembers which pastes a user likes.
type Starrer interface {
	// Star adds the paste to the end of the user's stars, or changes nothing when it is there already.
	// The paste need not exist. It fails with fault.NotFound when the user does not exist.
	Star(ctx context.Context, starrer user.ID, id ID) error
}

// Unstarrer forgets which pastes a user likes.
type Unstarrer interface {
	// Unstar takes the paste out of the user's stars. It fails with fault.NotFound when it is not in them.
	Unstar(ctx context.Context, starrer user.ID, id ID) error
}

// OwnerLister lists the pastes of one owner.
type OwnerLister interface {
	// EachByOwner calls visit with each of owner's pastes, newest first, expired ones that are still there
	// included. An error of visit ends the walk and is returned. What visit asks of the store may need what the
	// walk holds, and then fails with fault.Internal; a store with a single connection cannot answer it at all.
	EachByOwner(ctx context.Context, owner user.ID, visit func(Paste) error) error
}

// Deleter removes pastes.
type Deleter interface {
	// Delete removes the paste. It fails with fault.NotFound when there is none with that id.
	Delete(ctx context.Context, id ID) error
}
