// Package moderation is about how operators find and remove abusive content.
//
// A method fails with moderation.ErrBlocked when the address from, of the client that it is for, is in a blocked
// network. The zero Addr never is. One that takes an entry stores it in the audit log, in the same transaction, unless
// it is the zero Entry.
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

// Found is a paste as operators see it in a list. Titles have 200 characters at most. FirstLine is empty for private,
// burning and removed pastes.
type Found struct {
	paste.Listed

	Suspended bool  // the owner is
	Bytes     int64 // of content and history

	// Of one that is removed:
	RemovedAt time.Time
	RemovedBy string
	Reason    string
}

// Usage is how much a user has stored.
type Usage struct {
	Pastes   int64 // expired ones that are still stored included
	Bytes    int64 // of their content and history
	Tokens   int64 // that are valid
	LastUsed time.Time
}

// Store has what operators ask for, and keeps what they decide. A change of blocks takes effect with the next request
// on every node. A report ends when its paste is deleted, removed or swept.
type Store interface {
	// Pastes scans at most window pastes of all users after a place, newest first, including expired ones that are still
	// stored. It returns those that match the filter, and the place of the last one that it scanned, or the zero Place at
	// the end.
	Pastes(ctx context.Context, filter Filter, after paste.Place, window int) ([]Found, paste.Place, error)
	// UsageOf returns what the user with that id has; the zero Usage when there is no such user.
	UsageOf(ctx context.Context, id user.ID) (Usage, error)
	// Origin returns the address that the paste with that id was created from, also when the paste is gone. It fails with
	// fault.NotFound when none is kept.
	Origin(ctx context.Context, id paste.ID) (netip.Addr, error)

	// Remove takes the paste out of all lists, counts and pages. A tombstone keeps who removed it (see package auditlog),
	// the reason, and what paste.Store.Told says. It fails with fault.NotFound when no paste with that id is active.
	Remove(ctx context.Context, entry auditlog.Entry, id paste.ID, reason string) error
	// Restore undoes Remove: the paste is as it was, with its stars. If its owner's pastes are hidden
	// (user.User.PastesHidden), it is hidden, too, until Unhide. It fails with fault.NotFound when no paste with that id
	// was removed, or when the paste was purged or has expired meanwhile.
	Restore(ctx context.Context, entry auditlog.Entry, id paste.ID) error

	// Accounts returns the first accounts after a place that match the filter, at most limit of them. An account that is
	// never used counts as used in 1970.
	Accounts(ctx context.Context, filter AccountFilter, order Order, after AccountPlace, limit int) ([]Account, error)

	// Hide removes at most limit of a user's active pastes as Remove does, but their pages do not say so. It returns how
	// many it found, also those that expired or were deleted at the same moment: 0 when none is left, or the owner's are
	// not to be hidden (user.User.PastesHidden). Imports do not bring them back.
	Hide(ctx context.Context, owner user.ID, limit int) (int, error)
	// Unhide undoes Hide for at most limit pastes, unless the owner's are to be hidden, and returns their number as Hide
	// does. Their reports are open again.
	Unhide(ctx context.Context, owner user.ID, limit int) (int, error)

	// Block stores a block, and replaces one of the same network.
	Block(ctx context.Context, entry auditlog.Entry, block Block) error
	// Unblock removes the block of a network. It fails with fault.NotFound when there is none.
	Unblock(ctx context.Context, entry auditlog.Entry, network netip.Prefix) error
	// Blocks returns all that have not expired, the latest first.
	Blocks(ctx context.Context) ([]Block, error)

	// Report stores a report of a paste that the reader sees, and counts it for the client. A reader without an id is a
	// visitor. It fails with fault.NotFound when the reader sees no such paste, with paste.ErrBurns as Document.ReadableBy
	// does, and with fault.Exhausted when the client has used up its quota.
	Report(ctx context.Context, from netip.Addr, report Report, reader user.ID, client paste.Client,
		quota paste.Quota) error
	// Reports returns the first reports after one, at most limit of them, oldest first. The zero Report is before all of
	// them.
	Reports(ctx context.Context, after Report, limit int) ([]Report, error)
	// CloseReport removes a report. It fails with fault.NotFound when there is none.
	CloseReport(ctx context.Context, entry auditlog.Entry, id string) error

	// Entries returns the first entries after one, at most limit of them, newest first. The zero Entry is before all of
	// them.
	Entries(ctx context.Context, after auditlog.Entry, limit int) ([]auditlog.Entry, error)
}
