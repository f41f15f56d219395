// Package moderation is about how operators find and remove abusive content.
//
// A method fails with moderation.ErrBlocked when the address from, of the client that it is for, is in a blocked network. The
// zero Addr never is. One that takes an entry stores it in the audit log, in the same transaction, unless it is the zero Entry.
package moderation

import (
	"context"
	"net/netip"
	"time"

	"github.com/gluepot/gluepot/domain/auditlog"
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

// Filter says which pastes match. Zero fields match all.
type Filter struct {
	Owner      user.ID
	Anonymous  bool
	Since      time.Time // created then or later
	Until      time.Time // created before then
	Title      string    // the paste's title, or that of a pasty, contains this
	Contains   string    // the code of a pasty contains this
	Language   string    // a pasty has it
	LargerThan int64     // bytes of content and history
	Reported   bool      // a report of it is open
	Removed    bool      // find removed and hidden pastes instead
}

// Found is a paste as operators see it in a list. Titles have 200 characters at most. FirstLine is empty for private, burning and
// removed pastes.
type Found struct {
	paste.Listed

	Suspended bool  // the owner is
	Bytes     int64 // of content and history

	// Of one that is removed:
	RemovedAt time.Time
	RemovedBy string
	Reason    string
}

// Remover removes and restores pastes.
type Remover interface {
	// Remove takes the paste out of all lists, counts and pages. A tombstone keeps who removed it (see package auditlog), the reason,
	// and what paste.Store.Told says. It fails with fault.NotFound when no paste with that id is active.
	Remove(ctx context.Context, entry auditlog.Entry, id paste.ID, reason string) error
	// Restore undoes Remove: the paste is as it was, with its stars. If its owner's pastes are hidden (user.User.PastesHidden), it
	// is hidden, too, until Hider.Unhide. It fails with fault.NotFound when no paste with that id was removed, or when the paste
	// was purged or has expired meanwhile.
	Restore(ctx context.Context, entry auditlog.Entry, id paste.ID) error
}

// Usage is how much a user has stored.
type Usage struct {
	Pastes   int64 // expired ones that are still stored included
	Bytes    int64 // of their content and history
	Tokens   int64 // that are valid
	LastUsed time.Time
}

// Finder finds what operators ask for.
type Finder interface {
	// Pastes scans at most window pastes of all users after a place, newest first, including expired ones that are still stored. It
	// returns those that match the filter, and the place of the last one that it scanned, or the zero Place at the end.
	Pastes(ctx context.Context, filter Filter, after paste.Place, window int) ([]Found, paste.Place, error)
	// UsageOf returns what the user with that id has; the zero Usage when there is no such user.
	UsageOf(ctx context.Context, id user.ID) (Usage, error)
	// Origin returns the address that the paste with that id was created from, also when the paste is gone. It fails with
	// fault.NotFound when none is kept.
	Origin(ctx context.Context, id paste.ID) (netip.Addr, error)
}
