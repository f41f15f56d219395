// Package user is about the people who have an account. Each method of a port fails with fault.Unavailable when the
// store does not answer.
//
// A method that takes the client's address as from fails with moderation.ErrBlocked when a block matches it; none
// matches the zero Addr. A method that takes an entry stores it in the audit log in the same transaction, unless it is
// the zero Entry.
package user

import (
	"context"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
)

// ID identifies a user permanently. Names can change.
type ID string

// DefaultLanguage is the language of a user's new pastes if the user did not choose one.
const DefaultLanguage = "Autodetect"

// User is an account's profile.
type User struct {
	ID              ID
	Name            Name
	AvatarURL       string
	DefaultLanguage string
	PublicProfile   bool  // whether others may see the profile
	ShowTags        bool  // whether others may see the tags of the user's public pastes
	SupporterMonths int32 // how long the user has supported the service; 0: not a supporter
	Contributor     bool
	CreatedAt       time.Time
	Admin           bool // may moderate on pages
	Suspended       bool // by an operator (see package moderation)
	PastesHidden    bool // while the user is suspended
}

// Account is a profile with lists that only its owner sees.
type Account struct {
	User
	Stars      []string          // ids of starred pastes that still exist, in the order of starring
	Identities map[string]string // key of a provider that the user signs in with -> the user's id there
}

// NameAndID returns the user's name, and the id, which does not change with the name. It is for the audit log.
func (u User) NameAndID() string { return u.Name.String() + " (" + string(u.ID) + ")" }

// Validate returns a fault.Invalid that names the first field that breaks a rule.
func (u User) Validate() error {
	switch {
	case !ident.Valid(string(u.ID)):
		return fault.New(fault.Invalid, "A user id must be 1 to 64 letters, digits, '-' or '_'.")
	case !ident.Printable(u.AvatarURL, maxAvatarURL):
		return fault.New(fault.Invalid, "The avatar URL must be printable text of at most 2048 bytes.")
	case u.DefaultLanguage == "" || !ident.Printable(u.DefaultLanguage, 64):
		return fault.New(fault.Invalid, "The default language must be 1 to 64 bytes of printable text.")
	case u.SupporterMonths < 0:
		return fault.New(fault.Invalid, "The supporter length must not be negative.")
	}
	return nil
}

// CheckAvatar returns a fault.Invalid unless a user may choose the address for an avatar. It must be an https URL
// without quotes, spaces and angle brackets, or empty. Imported users keep theirs.
func CheckAvatar(address string) error {
	if address == "" {
		return nil
	}
	avatar, err := url.Parse(address)
	if err != nil || avatar.Scheme != "https" || avatar.Hostname() == "" || strings.ContainsAny(address, "\"'`<>\\ ") ||
		!ident.Printable(address, maxAvatarURL) {
		return errAvatar
	}
	return nil
}

const maxAvatarURL = 2048 // bytes

var errAvatar = fault.New(fault.Invalid,
	"The avatar must be an https address such as https://example.com/a.png, without quotes and spaces.")

// ValidateIdentities returns a fault.Invalid when a provider's key or the user's id there is not printable text.
func ValidateIdentities(identities map[string]string) error {
	for _, provider := range slices.Sorted(maps.Keys(identities)) {
		id := identities[provider]
		if provider == "" || id == "" || !ident.Printable(provider, 256) || !ident.Printable(id, 256) {
			return fault.New(fault.Invalid, "A provider and the user's id there must each be printable text of at most 256 "+
				"bytes.")
		}
	}
	return nil
}

// Store keeps users with their identities and former names. identity.Store creates them.
type Store interface {
	// ByName returns the user with that name, ignoring case. It fails with fault.NotFound when there is none.
	ByName(ctx context.Context, name Name) (User, error)
	// ByID returns the user with that id. It fails as ByName does.
	ByID(ctx context.Context, id ID) (User, error)

	// StaleByName is ByName, but its answer may be stale, as far as the store's configuration allows. Never base a write
	// on it.
	StaleByName(ctx context.Context, name Name) (User, error)
	// StaleByID is ByID as StaleByName is ByName.
	StaleByID(ctx context.Context, id ID) (User, error)

	// ByFormerName returns the user who gave up that name last. It fails as ByName does.
	ByFormerName(ctx context.Context, name Name) (User, error)

	// Users returns at most limit users after the given name, in the order of their folded names. The zero Name is before
	// the first.
	Users(ctx context.Context, after Name, limit int) ([]User, error)

	// AccountByID returns the account of the user with that id, with the stars whose pastes are active at the moment of
	// reading. It fails as ByName does.
	AccountByID(ctx context.Context, id ID) (Account, error)

	// Update locks the user with that id, calls change with the user and its identities, and stores and returns the
	// changed values, in one transaction, so that concurrent updates do not overwrite each other. The id and the time of
	// creation cannot change.
	//
	// If change fails, Update returns its error and stores nothing. change must not call the store, and may be called
	// again with fresh values. Update fails with fault.NotFound when there is no such user, and with fault.Conflict when
	// the new name is taken or another user gave it up within NameReserved, or when an identity is taken.
	Update(
		ctx context.Context, from netip.Addr, entry auditlog.Entry, id ID,
		change func(u *User, identities map[string]string) error,
	) (User, map[string]string, error)

	// Delete deletes the user with that id, and the user's tokens, stars, identities and pastes. With a retention, pastes
	// that are not private stay: unlisted, and without an owner or tags. It fails with fault.NotFound, and deletes
	// nothing, when there is no user with that id and name, ignoring case. It deletes pastes first, in batches. After any
	// other error, the user and the remaining pastes stay until paste.Store.FinishDeletions.
	Delete(ctx context.Context, from netip.Addr, entry auditlog.Entry, id ID, name Name, retention *PasteRetention) error

	// Import stores the accounts in order, in one transaction. It creates new ones and changes others with Import.Over.
	// The results are in the order of the accounts. An account whose name another user has is refused with fault.Conflict.
	// An account that was deleted here results in batch.RemovedEarlier. A replaced name is reserved as in Update. If
	// Import fails, it stores nothing.
	Import(ctx context.Context, accounts []Import) ([]batch.Result, error)
}

// NameReserved is how long a former name is reserved for its user.
const NameReserved = 90 * 24 * time.Hour

// MaxFormerNames is how many former names of a user are reserved at once. Another one releases the oldest.
const MaxFormerNames = 5

// ErrNotFound is the fault.NotFound for a user who does not exist or is hidden from the viewer.
var ErrNotFound = fault.New(fault.NotFound, "There is no such user.")

// ErrNameTaken is the fault.Conflict for a name that another user has.
var ErrNameTaken = fault.New(fault.Conflict, "The username is taken. Choose another.")

// ErrIdentityTaken is the fault.Conflict for an identity that another user has.
var ErrIdentityTaken = fault.New(fault.Conflict, "Another user already signs in with this account.")

// ReplaceNotFound returns ErrNotFound for a store's fault.NotFound about a user, and any other err as it is.
func ReplaceNotFound(err error) error { return fault.Replace(err, fault.NotFound, ErrNotFound) }

// PasteRetention says how long a deleted user's pastes live on.
type PasteRetention struct {
	Until    time.Time // the latest expiry; zero: no change
	Lifetime string    // of pastes that Until shortens, see paste.Lifetime
}

// Find returns the user that an operator refers to: by name or, if no user has that name, by id. A name can be another
// user's id, so the prefixes name: and id: allow only one of them. It fails with fault.Invalid when the name breaks a
// rule, and with ErrNotFound when there is no such user.
func Find(ctx context.Context, users Store, reference string) (User, error) {
	if id, ok := strings.CutPrefix(reference, "id:"); ok {
		match, err := users.ByID(ctx, ID(id))
		return match, ReplaceNotFound(err)
	}
	name, byName := strings.CutPrefix(reference, "name:")
	userName, invalid := ParseName(name)
	if invalid == nil {
		match, err := users.ByName(ctx, userName)
		if byName || !fault.Is(err, fault.NotFound) {
			return match, ReplaceNotFound(err)
		}
	} else if byName {
		return User{}, invalid
	}
	match, err := users.ByID(ctx, ID(name))
	if fault.Is(err, fault.NotFound) && invalid != nil {
		return User{}, invalid
	}
	return match, ReplaceNotFound(err)
}

// FindByName parses a name and returns the user that find returns for it. It fails with ErrNotFound when there is no
// such user, or the name breaks a rule.
func FindByName(ctx context.Context, name string, find func(context.Context, Name) (User, error)) (User, error) {
	userName, err := ParseName(name)
	if err != nil {
		return User{}, ErrNotFound
	}
	match, err := find(ctx, userName)
	return match, ReplaceNotFound(err)
}

// Public passes the results of a lookup on, but fails with ErrNotFound when the user's profile is private.
func Public(u User, err error) (User, error) {
	if err == nil && !u.PublicProfile {
		err = ErrNotFound
	}
	if err != nil {
		return User{}, ReplaceNotFound(err)
	}
	return u, nil
}
