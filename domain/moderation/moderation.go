// Package moderation is about how operators find and remove abusive content.
//
// A method that takes the client's address as from fails with ErrBlocked when a block matches it; none matches the zero
// Addr. A method that takes an entry stores it in the audit log in the same transaction, unless it is the zero Entry,
// and fails with auditlog.ErrAdministrator as auditlog.Entry says.
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
	Title      string    // a part of the paste's title or of a pasty's
	Contains   string    // a part of a pasty's code
	Language   string    // of a pasty
	LargerThan int64     // bytes of content and history
	Reported   bool      // with an open report
	Removed    bool      // removed and hidden pastes instead of the others
}

// Paste is a paste as operators see it in a list. Titles have at most 200 characters. FirstLine is empty for private,
// burning and removed pastes.
type Paste struct {
	paste.Summary

	Suspended bool  // whether the owner is suspended
	Bytes     int64 // of content and history

	// Only for a removed paste:
	RemovedAt time.Time
	RemovedBy string
	Reason    string
}

// Usage is how much a user has stored.
type Usage struct {
	Pastes   int64 // including expired ones that are still stored
	Bytes    int64 // of their content and history
	Tokens   int64 // valid ones
	LastUsed time.Time
}

// Store finds what operators ask for and keeps what they decide. Blocks take effect with the next request on every
// node. A report ends when its paste is deleted, removed or swept.
type Store interface {
	// Pastes scans at most window pastes of all users after a cursor, newest first, including expired ones that are still
	// stored. It returns those that match the filter, and the cursor of the last one that it scanned, or the zero cursor
	// at the end.
	Pastes(ctx context.Context, filter Filter, after paste.Cursor, window int) ([]Paste, paste.Cursor, error)
	// Origin returns the address that the paste with that id was created from, even if the paste is gone. It fails with
	// fault.NotFound when no address is stored.
	Origin(ctx context.Context, id paste.ID) (netip.Addr, error)

	// Remove removes the paste from all lists, counts and pages. A tombstone keeps who removed it (see package auditlog),
	// the reason, and what paste.Store.RemovalNotice returns. Remove fails with fault.NotFound when no paste with that id
	// is active.
	Remove(ctx context.Context, entry auditlog.Entry, id paste.ID, reason string) error
	// Restore undoes Remove: it brings the paste back with its stars. If its owner's pastes are hidden
	// (user.User.PastesHidden), it stays hidden until Unhide. Restore fails with fault.NotFound when no paste with that id
	// was removed, or when the paste has been purged or has expired.
	Restore(ctx context.Context, entry auditlog.Entry, id paste.ID) error

	// AccountOf returns the user with that id. It fails with fault.NotFound when there is no such user.
	AccountOf(ctx context.Context, id user.ID) (Account, error)
	// Accounts returns at most limit accounts that match the filter, after a cursor. An account that was never used counts
	// as used in 1970.
	Accounts(ctx context.Context, filter AccountFilter, order Order, after AccountCursor, limit int) ([]Account, error)

	// Hide removes at most limit of a user's active pastes as Remove does, but leaves no removal notice. It returns how
	// many pastes it handled, including those that expired or were deleted at the same moment. It returns 0 when none is
	// left, or when user.User.PastesHidden is false. Imports do not bring hidden pastes back.
	Hide(ctx context.Context, owner user.ID, limit int) (int, error)
	// Unhide undoes Hide for at most limit pastes, unless user.User.PastesHidden is true, and returns their number as Hide
	// does. It reopens their reports.
	Unhide(ctx context.Context, owner user.ID, limit int) (int, error)

	// Block stores a block, and replaces any block of the same network.
	Block(ctx context.Context, entry auditlog.Entry, block Block) error
	// Unblock removes the block of a network. It fails with fault.NotFound when there is none.
	Unblock(ctx context.Context, entry auditlog.Entry, network netip.Prefix) error
	// Blocks returns the blocks that have not expired, latest first.
	Blocks(ctx context.Context) ([]Block, error)

	// Report stores a reader's report of a paste, and counts it for the client. The empty reader is a visitor. It fails
	// with fault.NotFound when the reader may not see the paste, with paste.ErrBurns as Document.ReadableBy does, and with
	// fault.Exhausted when the client has used up its quota.
	Report(
		ctx context.Context, from netip.Addr, report Report, reader user.ID, client paste.Client, quota paste.Quota,
	) error
	// Reports returns at most limit reports after the given one, oldest first. The zero Report is before all of them.
	Reports(ctx context.Context, after Report, limit int) ([]Report, error)
	// CloseReport removes a report. It fails with fault.NotFound when there is none.
	CloseReport(ctx context.Context, entry auditlog.Entry, id string) error

	// Entries returns at most limit entries after the given one, newest first. The zero Entry is before all of them.
	Entries(ctx context.Context, after auditlog.Entry, limit int) ([]auditlog.Entry, error)
}
