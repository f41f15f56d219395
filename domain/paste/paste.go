// Package paste is about code snippets: their content, owners, history and lifetimes. Each method of a port fails with
// fault.Unavailable when the store does not answer.
//
// A method that takes the client's address as from fails with moderation.ErrBlocked when a block matches it; none
// matches the zero Addr. A method that takes an entry stores it in the audit log in the same transaction, unless it is
// the zero Entry.
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
	DeleteKey KeyHash   // of the key that deletes it; zero: none
	Burns     bool      // it can be opened once (Document.BurnableBy)
}

// ActiveAt reports whether the paste has not expired. It expires at the instant of ExpiresAt.
func (p Paste) ActiveAt(now time.Time) bool {
	return p.ExpiresAt.IsZero() || p.ExpiresAt.After(now)
}

// Validate returns a fault.Invalid that names the first field that breaks a rule.
func (p Paste) Validate() error {
	switch {
	case !ident.Valid(string(p.ID)):
		return fault.New(fault.Invalid, "A paste id must be 1 to 64 letters, digits, '-' or '_'.")
	case p.Owner != "" && !ident.Valid(string(p.Owner)):
		return fault.New(fault.Invalid, "The owner's id must be 1 to 64 letters, digits, '-' or '_'.")
	}
	return nil
}

// Document is a paste with its content.
type Document struct {
	Paste
	Content
	Stars   int64 // number of users who star it
	Starred bool  // whether the reader stars it (see Store.ReadDocument)

	CreatedFrom netip.Addr // of a new paste: the address to keep for moderation.Store; zero: none
}

// Store keeps pastes with their content, and users' stars. Each method that changes something uses one transaction. A
// list has at most limit active pastes. It is empty when there are none, or no such user.
type Store interface {
	// DocumentByID returns the paste with that id, even if it is private or encrypted. It fails with fault.NotFound when
	// no paste with that id is active at the moment of reading.
	DocumentByID(ctx context.Context, id ID) (Document, error)
	// ReadDocument is DocumentByID for a reader, and sets Starred. The empty reader is a visitor. It also fails as
	// Document.ForReader does. It does not read the content of a refused paste, so that the time of the answer does not
	// reveal that it exists.
	ReadDocument(ctx context.Context, id ID, reader user.ID) (Document, error)
	// ReadWithoutContent is ReadDocument without tags, pasties and edits.
	ReadWithoutContent(ctx context.Context, id ID, reader user.ID) (Document, error)
	// ReadPasty returns one pasty of the document that ReadDocument returns, or the first one if pasty is empty. It fails
	// as ReadDocument does, and with fault.NotFound when the paste has no such pasty.
	ReadPasty(ctx context.Context, id ID, pasty string, reader user.ID) (Pasty, error)
	// ReadCipher is ReadDocument with Document.CipherReadableBy instead of ForReader.
	ReadCipher(ctx context.Context, id ID, reader user.ID) (Document, error)

	// CreateDocument stores a paste, without Stars and Starred. It fails with a fault.Conflict that wraps ident.ErrTaken
	// when the id is taken, and with fault.NotFound when the owner does not exist.
	CreateDocument(ctx context.Context, document Document) error
	// CreateAllowed is CreateDocument within an allowance. It returns the usage of the allowance's Rate, and also fails as
	// Allowance.Add and Quota.Take do, and with token.ErrSuspended when the owner's pastes are hidden. Pastes and Bytes
	// bound what the owner has; they do not apply to anonymous pastes. Rate bounds how often a client creates, by the
	// store's clock. It must be the same in all calls. Only a salted hash of the client is stored. Concurrent calls of
	// CreateAllowed and UpdateAllowed cannot exceed the allowance together.
	CreateAllowed(
		ctx context.Context, from netip.Addr, allowance Allowance, client Client, document Document,
	) (Usage, error)

	// Update locks the paste with that id, calls change with it, and stores and returns the Document of the Change, in one
	// transaction, so that concurrent updates do not overwrite each other. It stores the entry, too. ID, CreatedAt, Burns,
	// Cipher and Stars cannot change, and Starred is ignored.
	//
	// If change fails, Update returns its error and stores nothing. It also stores nothing unless Change.Changed. change
	// must not call the store or modify its argument, and may be called again with fresh values. Update fails with
	// fault.NotFound, without calling change, when no paste with that id is active.
	Update(
		ctx context.Context, entry auditlog.Entry, id ID, change func(stored Document) (Change, error),
	) (Document, error)
	// UpdateAllowed is Update on behalf of a user, without an entry. It also fails as Allowance.Add does when the paste
	// grows beyond the Bytes of the allowance, unless the paste belongs to another user. The change counts for the client
	// as in CreateAllowed.
	UpdateAllowed(
		ctx context.Context, from netip.Addr, allowance Allowance, client Client, editor user.ID, id ID,
		change func(stored Document) (Change, error),
	) (Document, error)

	// DeleteIf calls allow with the locked paste, as Update calls change. If allow returns nil, it deletes the paste and
	// stores the entry; otherwise it returns allow's error. A tombstone remains, which Import respects. It fails with
	// fault.NotFound, without calling allow, when no paste with that id is active.
	DeleteIf(ctx context.Context, entry auditlog.Entry, id ID, allow func(stored Paste) error) error
	// Burn deletes the paste with that id as DeleteIf does, and returns its content. Only one of several callers gets it,
	// and only after the deletion is committed. It fails with fault.NotFound when no paste with that id is active, or
	// Document.BurnableBy refuses. After any other error the paste may be gone.
	Burn(ctx context.Context, id ID, reader user.ID) (Document, error)

	// RemoveExpired removes at most limit pastes that expired at least grace ago, by the store's clock, in the order of
	// their expiry, and returns how many. Concurrent callers remove different ones.
	RemoveExpired(ctx context.Context, grace time.Duration, limit int) (int, error)
	// FinishDeletions continues an interrupted deletion of a user (user.Store). It handles at most limit pastes of one
	// user, and returns how many. If there are fewer, the user is deleted, too.
	FinishDeletions(ctx context.Context, limit int) (int, error)
	// ForgetClients removes at most limit clients of CreateAllowed that have their whole quota again, and returns how
	// many.
	ForgetClients(ctx context.Context, limit int) (int, error)

	// Star appends the paste to the user's stars, unless it is already there. The paste need not exist. It fails with
	// fault.NotFound when the user does not exist.
	Star(ctx context.Context, from netip.Addr, userID user.ID, id ID) error
	// Unstar removes the paste from the user's stars. It fails with fault.NotFound when it is not there, and as Star does.
	Unstar(ctx context.Context, from netip.Addr, userID user.ID, id ID) error

	// Select returns an owner's pastes of a selection, without those that PasteMyst encrypted. Public ones are never
	// encrypted.
	Select(ctx context.Context, owner user.ID, selection Selection, limit int) ([]Summary, error)
	// Profile returns the user with that name, and the result of Select for the user's public pastes, both as of one
	// instant. It fails with fault.NotFound when there is no such user. If allow fails for the user, it returns that error
	// and reads no pastes.
	Profile(
		ctx context.Context, name user.Name, allow func(user.User) error, selection Selection, limit int,
	) (user.User, []Summary, error)
	// StarredBy returns the pastes of any owner that a user stars and may read (Document.ForReader), newest first: with a
	// title, those that a Selection with it names.
	StarredBy(ctx context.Context, reader user.ID, title string, after Cursor, limit int) ([]Summary, error)
	// Recent returns the public pastes of all users with a public profile, newest first, with a title like StarredBy. A
	// store may look for the title among the first TitleWindow pastes after the cursor only.
	Recent(ctx context.Context, title string, after Cursor, limit int) ([]Summary, error)

	// ActiveIDs returns the ids of at most limit active pastes of owner after a cursor, newest first, and the cursor of
	// the last one. If there are fewer than limit, none follow.
	ActiveIDs(ctx context.Context, owner user.ID, after Cursor, limit int) (ids []ID, last Cursor, err error)
	// ActiveCount returns the exact number of active pastes at the moment of reading, on all nodes.
	ActiveCount(ctx context.Context) (int64, error)

	// Import stores the pastes by id in one transaction. It creates new ones, and changes others with Import.Over. The
	// results are in the order of the pastes. A paste that was deleted here, alone or with its owner, results in
	// batch.RemovedEarlier, whatever orphans says. A paste that expired and was swept is created again. A paste of an
	// unknown owner is refused with fault.NotFound, unless orphans says otherwise. If Import fails, it stores nothing.
	Import(ctx context.Context, pastes []Import, orphans Orphans) ([]batch.Result, error)

	// RemovalNotice reports whether the page of a removed paste says so: whether the paste was readable by its link.
	RemovalNotice(ctx context.Context, id ID) (bool, error)

	// PurgeRemoved deletes the content of at most limit pastes that were removed at least retention ago, and returns how
	// many. RemoveExpired handles those that expire.
	PurgeRemoved(ctx context.Context, retention time.Duration, limit int) (int, error)
	// DeleteRemoved deletes the content of a removed or hidden paste, and stores the entry. The tombstone remains. It
	// fails with fault.NotFound when there is no such paste.
	DeleteRemoved(ctx context.Context, entry auditlog.Entry, id ID) error
	// ForgetOrigins deletes the addresses of at most limit pastes that were created at least retention ago, and returns
	// how many.
	ForgetOrigins(ctx context.Context, retention time.Duration, limit int) (int, error)
}
