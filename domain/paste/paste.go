// Package paste is about code snippets: their content, owners, history and lifetimes.
package paste

import (
	"context"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
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
	DeleteKey KeyHash   // of the key that deletes it; zero: there is none
	Burns     bool      // after reading: it can be opened once (Document.BurnableBy)
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
	// ActiveIDs returns the places of at most limit active pastes of owner, in order, beginning after a place. Fewer than limit are
	// the last ones. It fails with fault.Unavailable when the store does not answer.
	ActiveIDs(ctx context.Context, owner user.ID, after Place, limit int) ([]Place, error)
}

// ExpiredRemover removes expired pastes.
type ExpiredRemover interface {
	// RemoveExpired removes at most limit pastes that have been expired for grace or longer, by the store's clock, oldest expiry
	// first, and returns how many. Concurrent callers remove different ones.
	RemoveExpired(ctx context.Context, grace time.Duration, limit int) (int, error)
}

// Starrer adds stars.
type Starrer interface {
	// Star adds the paste to the end of the user's stars, or changes nothing when it is there already.
	// The paste need not exist. It fails with fault.NotFound when the user does not exist.
	Star(ctx context.Context, starrer user.ID, id ID) error
}

// Unstarrer removes stars.
type Unstarrer interface {
	// Unstar takes the paste out of the user's stars. It fails with fault.NotFound when it is not in them.
	Unstar(ctx context.Context, starrer user.ID, id ID) error
}
