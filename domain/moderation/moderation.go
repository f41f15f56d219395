// Package moderation is about what operators find and what they take away.
package moderation

import (
	"context"
	"net/netip"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// MaxReason is the length of a reason, in bytes.
const MaxReason = 500

// ValidateReason returns a fault.Invalid unless the reason is a line of text.
func ValidateReason(reason string) error {
	if reason == "" || !ident.Printable(reason, MaxReason) {
		return fault.New(fault.Invalid, "Give a reason: one line of at most 500 bytes.")
	}
	return nil
}

// Filter says which pastes are looked for. What is zero does not matter.
type Filter struct {
	Owner      user.ID
	Anonymous  bool
	Since      time.Time // created then or later
	Until      time.Time // created before then
	Title      string    // its title, or that of a pasty, holds this
	Contains   string    // the code of a pasty holds this
	Language   string    // a pasty has it
	LargerThan int64     // bytes of content and history
	Reported   bool      // a report of it is open
	Removed    bool      // instead of those that are there; Contains, Language and Reported are not looked for then
}

// Found is a paste as operators see it in a list.
type Found struct {
	paste.Paste

	Title      string // its first 200 characters
	Visibility paste.Visibility
	OwnerName  string
	Bytes      int64 // of content and history

	// Of one that is removed:
	RemovedAt time.Time
	RemovedBy string
	Reason    string
}

// Lister lists the pastes of all users, newest first.
type Lister interface {
	// Pastes looks through the first pastes that stand after a place, at most window of them, expired ones that are still stored
	// included, and returns those that match the filter, and the place of the last one it has looked at; the zero Place when there
	// are no more. What it reads of titles and code it does not keep.
	Pastes(ctx context.Context, filter Filter, after paste.Place, window int) ([]Found, paste.Place, error)
}

// Remover takes pastes away and gives them back.
type Remover interface {
	// Remove takes the paste out of all that lists, counts and shows pastes. A tombstone stays, with who has removed it (see
	// package audit), the reason, and what Teller says. It fails with fault.NotFound when no paste with that id is active.
	Remove(ctx context.Context, id paste.ID, reason string) error
	// Restore undoes Remove: the paste is as it was, with its stars. Where those of its owner are hidden (user.User.PastesHidden), it is
	// hidden, too, until Hider.Unhide. It fails with fault.NotFound when there is none with that id that was removed, or
	// it was purged or has expired meanwhile.
	Restore(ctx context.Context, id paste.ID) error
}

// Teller tells what Remover has taken away.
type Teller interface {
	// Told reports whether the paste was readable by its link before it was removed.
	Told(ctx context.Context, id paste.ID) (bool, error)
}

// Purger ends what is kept for operators.
type Purger interface {
	// PurgeRemoved deletes the content of at most limit pastes that were removed so long ago or have expired, and returns how many.
	PurgeRemoved(ctx context.Context, retention time.Duration, limit int) (int, error)
	// ForgetOrigins deletes the addresses that at most limit pastes were created from so long ago, and returns how many.
	ForgetOrigins(ctx context.Context, retention time.Duration, limit int) (int, error)
}

// OriginFinder tells where pastes came from.
type OriginFinder interface {
	// Origin returns the address that the paste with that id was created from, also when the paste is gone. It fails with
	// fault.NotFound when none is kept.
	Origin(ctx context.Context, id paste.ID) (netip.Addr, error)
}

// Usage is what a user has here.
type Usage struct {
	Pastes   int64 // expired ones that are still stored included
	Bytes    int64 // of their content and history
	Tokens   int64 // that are valid
	LastUsed time.Time
}

// UsageFinder tells what users have.
type UsageFinder interface {
	// UsageOf returns what the user with that id has; the zero Usage when there is no such user.
	UsageOf(ctx context.Context, id user.ID) (Usage, error)
}
