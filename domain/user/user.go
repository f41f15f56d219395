// Package user is about the people who have an account. Each method of a port fails with fault.Unavailable when the
// store does not answer.
//
// A method fails with moderation.ErrBlocked when the address from, of the client that it is for, is in a blocked
// network. The zero Addr never is. One that takes an entry stores it in the audit log, in the same transaction, unless
// it is the zero Entry.
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

// ID identifies a user for good; names can change.
type ID string

// DefaultLanguage is the language of a user's new pastes unless the user chose one.
const DefaultLanguage = "Autodetect"

// User is an account's profile.
type User struct {
	ID              ID
	Name            Name
	AvatarURL       string
	DefaultLanguage string
	PublicProfile   bool  // whether others may see the profile
	ShowTags        bool  // whether others see the tags of the user's public pastes
	SupporterMonths int32 // how long the user has supported the service; 0: not a supporter
	Contributor     bool
	CreatedAt       time.Time
	Admin           bool // may moderate on pages
	Suspended       bool // by an operator: see package moderation
	PastesHidden    bool // while the user is suspended
}

// Account is what only its owner sees: the profile and its lists.
type Account struct {
	User
	Stars    []string          // ids of the starred pastes that still exist, in the order they were starred
	Services map[string]string // name of a service the user signs in with -> the user's id there
}

// NameAndID returns the user's name, and the id, which stays when the name changes: for records of what was done.
func (u User) NameAndID() string { return u.Name.String() + " (" + string(u.ID) + ")" }

// Validate returns a fault.Invalid that names the first field that breaks a rule.
func (u User) Validate() error {
	switch {
	case !ident.Valid(string(u.ID)):
		return fault.New(fault.Invalid, "The user id is not 1 to 64 letters, digits, '-' or '_'.")
	case !ident.Printable(u.AvatarURL, maxAvatarURL):
		return fault.New(fault.Invalid, "The avatar URL is not printable text of at most 2048 bytes.")
	case u.DefaultLanguage == "" || !ident.Printable(u.DefaultLanguage, 64):
		return fault.New(fault.Invalid, "The default language is not 1 to 64 bytes of printable text.")
	case u.SupporterMonths < 0:
		return fault.New(fault.Invalid, "The supporter length is negative.")
	}
	return nil
}

// CheckAvatar returns a fault.Invalid for an address that a user may not choose for an avatar. An address must be of
// https, without quotes, spaces and angle brackets. Empty means no avatar. Imported users keep what they have.
func CheckAvatar(address string) error {
	if address == "" {
		return nil
	}
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme != "https" || parsed.Hostname() == "" || strings.ContainsAny(address, "\"'`<>\\ ") ||
		!ident.Printable(address, maxAvatarURL) {
		return errAvatar
	}
	return nil
}

const maxAvatarURL = 2048 // bytes

var errAvatar = fault.New(fault.Invalid,
	"The avatar must be an https address such as https://example.com/a.png, without quotes and spaces.")

// ValidateServices returns a fault.Invalid when a service or the user's id there is not printable text.
func ValidateServices(services map[string]string) error {
	for _, service := range slices.Sorted(maps.Keys(services)) {
		id := services[service]
		if service == "" || id == "" || !ident.Printable(service, 256) || !ident.Printable(id, 256) {
			return fault.New(fault.Invalid, "A service needs a name and an id of at most 256 bytes of printable text.")
		}
	}
	return nil
}

// Store keeps users, with their accounts elsewhere and the names that they gave up.
type Store interface {
	// ByName returns the user with that name, whatever its case. It fails with fault.NotFound when there is none.
	ByName(ctx context.Context, name Name) (User, error)
	// ByID returns the user with that id. It fails as ByName does.
	ByID(ctx context.Context, id ID) (User, error)

	// StaleByName is ByName, but its answer may be stale, as far as the store was configured to allow. It must
	// never decide a write.
	StaleByName(ctx context.Context, name Name) (User, error)
	// StaleByID is ByID as StaleByName is ByName.
	StaleByID(ctx context.Context, id ID) (User, error)

	// ByFormerName returns the user who gave up that name last. It fails as ByName does.
	ByFormerName(ctx context.Context, name Name) (User, error)

	// Create stores a user and the services the user signs in with. It fails with fault.Conflict when the name, in any
	// case, the id, or the user's id at a service is taken: ident.ErrTaken is in the error's chain when it is the id, and
	// ErrServiceTaken when it is one at a service.
	Create(ctx context.Context, entry auditlog.Entry, created User, services map[string]string) error

	// Users returns at most limit users in the order of their folded names, beginning after the given name. The zero Name
	// is before all.
	Users(ctx context.Context, after Name, limit int) ([]User, error)

	// AccountByID returns the account of the user with that id, with the stars whose pastes are active at the moment of
	// reading. It fails as ByName does.
	AccountByID(ctx context.Context, id ID) (Account, error)

	// Update locks the user of that id, calls change with the user and its services, and stores and returns what change
	// made of them, in one transaction. So concurrent updates do not overwrite each other. The id and the time of creation
	// cannot change.
	//
	// An error of change is returned and nothing is stored. change must not call the store, and may be called again with
	// fresh values. Update fails with fault.NotFound when there is no such user, and with fault.Conflict when change has
	// chosen a name that is taken, or that another user gave up within NameReserved, or an id at a service that is taken.
	Update(
		ctx context.Context, from netip.Addr, entry auditlog.Entry, id ID,
		change func(u *User, services map[string]string) error,
	) (User, map[string]string, error)

	// Delete removes the user of that id with everything that belongs to it: tokens, stars, services and pastes. With
	// kept, pastes that are not private stay: unlisted, and without an owner or tags. It fails with fault.NotFound, and
	// removes nothing, when there is no such user or the user has another name by now, whatever the case. Pastes go first,
	// in batches: another error may leave the user with the rest, until paste.Store.FinishDeletions.
	Delete(ctx context.Context, from netip.Addr, entry auditlog.Entry, id ID, name Name, kept *Kept) error

	// Import stores the accounts one by one, in one transaction: it creates new ones and changes the others as Import.Over
	// says. The results are in the accounts' order. An account whose name another user has at that moment is refused with
	// fault.Conflict. One that was deleted here is batch.RemovedEarlier: nothing of it is stored. A name that an account
	// loses is reserved as Update reserves it. An error means that nothing was stored.
	Import(ctx context.Context, accounts []Import) ([]batch.Result, error)
}

// NameReserved is how long a name that a user gave up is reserved.
const NameReserved = 90 * 24 * time.Hour

// MaxFormerNames is how many given-up names of a user are reserved at once; another one releases the oldest.
const MaxFormerNames = 5

// ErrNotFound is the fault.NotFound for a user who does not exist or is hidden from the viewer.
var ErrNotFound = fault.New(fault.NotFound, "There is no such user.")

// ErrNameTaken is the fault.Conflict for a name that another user has.
var ErrNameTaken = fault.New(fault.Conflict, "The username is taken. Choose another.")

// ErrServiceTaken is the fault.Conflict for an id at a service that another user has.
var ErrServiceTaken = fault.New(fault.Conflict, "Another user signs in with this account of that service.")

// Gone returns ErrNotFound for a store's fault.NotFound about a user, and any other err as it is: a user can be deleted
// between two calls.
func Gone(err error) error { return fault.Replace(err, fault.NotFound, ErrNotFound) }

// Kept says how long pastes live that have lost their owner.
type Kept struct {
	Until    time.Time // when they expire at the latest; zero: no change
	Lifetime string    // of those that Until shortens, see paste.Lifetime
}

// Find returns the user that an operator names: by name or, if no user has that name, by id. The prefixes name: and id:
// decide, because a name can be another user's id. It fails with fault.Invalid when the name breaks a rule, with
// ErrNotFound when there is no such user, and with fault.Unavailable when the store does not answer.
func Find(ctx context.Context, users Store, reference string) (User, error) {
	if id, ok := strings.CutPrefix(reference, "id:"); ok {
		found, err := users.ByID(ctx, ID(id))
		return found, Gone(err)
	}
	name, only := strings.CutPrefix(reference, "name:")
	parsed, unnamed := ParseName(name)
	if unnamed == nil {
		found, err := users.ByName(ctx, parsed)
		if only || !fault.Is(err, fault.NotFound) {
			return found, Gone(err)
		}
	} else if only {
		return User{}, unnamed
	}
	found, err := users.ByID(ctx, ID(name))
	if fault.Is(err, fault.NotFound) && unnamed != nil {
		return User{}, unnamed
	}
	return found, Gone(err)
}

// Named returns the user that find finds by a name. A name that breaks the rules is no user's, and is not looked up. It
// fails with ErrNotFound when there is none.
func Named(ctx context.Context, name string, find func(context.Context, Name) (User, error)) (User, error) {
	parsed, err := ParseName(name)
	if err != nil {
		return User{}, ErrNotFound
	}
	found, err := find(ctx, parsed)
	return found, Gone(err)
}

// Public returns a user who was found, or ErrNotFound when the profile is private.
func Public(found User, err error) (User, error) {
	if err == nil && !found.PublicProfile {
		err = ErrNotFound
	}
	if err != nil {
		return User{}, Gone(err)
	}
	return found, nil
}
