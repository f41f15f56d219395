// Package paste is about code snippets: their content, owners, history and lifetimes. Each method of a port fails with
// fault.Unavailable when the store does not answer.
//
// A method fails with moderation.ErrBlocked when the address from, of the client that it is for, is in a blocked
// network. The zero Addr never is. One that takes an entry stores it in the audit log, in the same transaction, unless
// it is the zero Entry.
package paste

import (
	"context"
	"net/netip"
	"time"

	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/batch"
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
	}
	return nil
}

// Document is a paste with what it holds.
type Document struct {
	Paste
	Content
	Stars   int64 // how many users have starred it
	Starred bool  // whether its reader has: see Store.ReadDocument

	CreatedFrom netip.Addr // of a new one: the address to keep for moderation.Store; zero: none
}

// Store keeps pastes with what they hold, and what users have starred. A method that changes something does so in one
// transaction. A list has at most limit active pastes; it is empty when there are none, or no such user.
type Store interface {
	// DocumentByID returns the paste with that id, also a private or encrypted one, if it is active at the moment of
	// reading. It fails with fault.NotFound when there is no such paste.
	DocumentByID(ctx context.Context, id ID) (Document, error)
	// ReadDocument is DocumentByID for a reader, and says whether the reader has starred the paste; the empty id is a
	// visitor. It also fails as Document.SeenBy does. The content of a refused paste is not read, so that the time of the
	// answer does not reveal that it exists.
	ReadDocument(ctx context.Context, id ID, reader user.ID) (Document, error)
	// ReadPasty returns one pasty of what ReadDocument returns, or the first one if pasty is empty. It fails as that does,
	// and with fault.NotFound when the paste has no such pasty.
	ReadPasty(ctx context.Context, id ID, pasty string, reader user.ID) (Pasty, error)
	// ReadCipher is ReadDocument with Document.CipherSeenBy in the place of SeenBy.
	ReadCipher(ctx context.Context, id ID, reader user.ID) (Document, error)

	// CreateDocument stores a paste; Stars and Starred are not stored. It fails with fault.Conflict, with ident.ErrTaken
	// in the error's chain, when the id is taken, and with fault.NotFound when the owner does not exist.
	CreateDocument(ctx context.Context, created Document) error
	// CreateAllowed is CreateDocument within an allowance, and returns the use of its Rate. Pastes and Bytes bound
	// what the owner has; they do not apply to anonymous pastes. Rate bounds how often a client creates, by the
	// store's clock; it must be the same in all calls, and only a salted hash of the client is kept. Concurrent calls
	// of CreateAllowed and UpdateAllowed cannot exceed the allowance together. It fails as
	// Allowance.Add and Quota.Take do, too, and with moderation.ErrBlocked when the writer's address from is in a blocked
	// network. The zero Addr never is.
	CreateAllowed(ctx context.Context, from netip.Addr, allowance Allowance, client Client,
		created Document) (Usage, error)

	// Update locks the paste with that id, calls change with it, and stores and returns the Document of the Change, in one
	// transaction. So concurrent updates do not overwrite each other. ID, CreatedAt, Burns, Cipher and Stars cannot
	// change; Starred is not read. It stores the entry, too.
	//
	// An error of change is returned with the zero Document, and nothing is stored, as without Change.Changed. change must
	// not call the store or modify its argument, and may be called again with fresh values. Update fails with
	// fault.NotFound, without a call of change, when no paste with that id is active.
	Update(ctx context.Context, entry auditlog.Entry, id ID,
		change func(stored Document) (Change, error)) (Document, error)
	// UpdateAllowed is Update on behalf of a user, without an entry. It fails as Allowance.Add does when the Bytes of the
	// allowance have no room for the paste's growth, and with moderation.ErrBlocked as CreateAllowed does.
	// It does not limit pastes of other users. A change counts for the client as CreateAllowed says.
	UpdateAllowed(
		ctx context.Context, from netip.Addr, allowance Allowance, client Client, editor user.ID, id ID,
		change func(stored Document) (Change, error),
	) (Document, error)

	// DeleteIf calls allow with the locked paste, as Update calls change. It removes the paste and stores
	// the entry, or returns the error of allow. A tombstone stays, which Import respects. It fails with fault.NotFound,
	// without a call of allow, when no paste with that id is active.
	DeleteIf(ctx context.Context, entry auditlog.Entry, id ID, allow func(stored Paste) error) error
	// Burn removes the paste with that id as DeleteIf does, and returns its content. Only one of several callers gets it,
	// and only once the removal is committed. It fails with fault.NotFound when no paste with that id is active, or
	// Document.BurnableBy refuses it. After another error the paste may be gone.
	Burn(ctx context.Context, id ID, reader user.ID) (Document, error)

	// RemoveExpired removes at most limit pastes that have been expired for grace or longer, by the store's clock, oldest
	// expiry first, and returns how many. Concurrent callers remove different ones.
	RemoveExpired(ctx context.Context, grace time.Duration, limit int) (int, error)
	// FinishDeletions goes on with a deletion of a user (user.Store) that was interrupted: it takes at most limit pastes
	// of one user, and returns how many. When they are fewer, the user is gone, too.
	FinishDeletions(ctx context.Context, limit int) (int, error)
	// ForgetClients removes at most limit clients of CreateAllowed whose quota is whole again, and returns how many.
	ForgetClients(ctx context.Context, limit int) (int, error)

	// Star adds the paste to the end of the user's stars, or changes nothing when it is there already. The paste need not
	// exist. It fails with fault.NotFound when the user does not exist, and with moderation.ErrBlocked when the user's
	// address from is in a blocked network.
	Star(ctx context.Context, from netip.Addr, starrer user.ID, id ID) error
	// Unstar takes the paste out of the user's stars. It fails with fault.NotFound when it is not in them, and as Star
	// does.
	Unstar(ctx context.Context, from netip.Addr, starrer user.ID, id ID) error

	// Select returns those of an owner that a selection names, without pastes that PasteMyst encrypted. Public ones are
	// never encrypted.
	Select(ctx context.Context, owner user.ID, selection Selection, limit int) ([]Listed, error)
	// Profile returns the user with that name and what Select returns of the user's public pastes, both as they were at
	// one instant. It fails with fault.NotFound when there is no such user, and reads no pastes if allow fails for the
	// user.
	Profile(
		ctx context.Context, name user.Name, allow func(user.User) error, selection Selection, limit int,
	) (user.User, []Listed, error)
	// StarredBy returns those of any owner that a user has starred and may read (Document.SeenBy), newest first.
	StarredBy(ctx context.Context, reader user.ID, after Place, limit int) ([]Listed, error)
	// Recent returns the public ones of all users with a public profile, newest first.
	Recent(ctx context.Context, after Place, limit int) ([]Listed, error)

	// ActiveIDs returns the ids of at most limit active pastes of owner, in order, beginning after a place, and the place
	// of the last of them. When there are fewer than limit, no more follow.
	ActiveIDs(ctx context.Context, owner user.ID, after Place, limit int) (ids []ID, last Place, err error)
	// ActiveCount returns how many pastes are active at the moment of reading, exactly, including every writer's.
	ActiveCount(ctx context.Context) (int64, error)

	// Import stores the pastes with all they hold, by id, in one transaction: it creates new ones, and changes the
	// others as Import.Over says. The results are in the pastes' order. A paste that was deleted here, itself or with
	// its owner, is batch.RemovedEarlier, whatever orphans says: nothing of it is stored. One that expired and was
	// swept is created again. One of an unknown owner is refused with fault.NotFound, unless orphans says otherwise.
	// An error means that nothing was stored.
	Import(ctx context.Context, pastes []Import, orphans Orphans) ([]batch.Result, error)

	// Told reports whether the paste was readable by its link before it was removed.
	Told(ctx context.Context, id ID) (bool, error)

	// PurgeRemoved deletes the content of at most limit pastes that were removed that long ago, and returns how many.
	// Those that expire go as RemoveExpired says.
	PurgeRemoved(ctx context.Context, retention time.Duration, limit int) (int, error)
	// DeleteRemoved deletes the content of a removed or hidden paste, and stores the entry. The tombstone stays. It fails
	// with fault.NotFound when there is none with that id.
	DeleteRemoved(ctx context.Context, entry auditlog.Entry, id ID) error
	// ForgetOrigins deletes the addresses of at most limit pastes that were created that long ago, and returns how many.
	ForgetOrigins(ctx context.Context, retention time.Duration, limit int) (int, error)
}
