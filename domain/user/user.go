// Package user is about the people who have an account.
package user

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
)

// ID identifies a user for good; names can change.
type ID string

// DefaultLanguage is the language that new pastes of a user start with when the user chose none.
const DefaultLanguage = "Autodetect"

// User is an account's profile.
type User struct {
	ID              ID
	Name            Name
	AvatarURL       string
	DefaultLanguage string
	PublicProfile   bool  // whether others may see the profile
	SupporterMonths int32 // how long the user has supported the service; 0: not a supporter
	Contributor     bool
	CreatedAt       time.Time
}

// Account is what only its owner sees: the profile and the lists that belong to it.
type Account struct {
	User
	Stars    []string          // ids of the starred pastes that still exist, in the order they were starred
	Services map[string]string // name of a service the user signs in with -> the user's id there
}

// Validate returns a fault.Invalid that names the first field that breaks a rule.
func (u User) Validate() error {
	switch {
	case !ident.Valid(string(u.ID)):
		return fault.New(fault.Invalid, "The user id is not 1 to 64 letters, digits, '-' or '_'.")
	case u.Name == Name{}:
		return fault.New(fault.Invalid, "The username is empty.")
	case !ident.Printable(u.AvatarURL, 2048):
		return fault.New(fault.Invalid, "The avatar URL is not printable text of at most 2048 bytes.")
	case u.DefaultLanguage == "" || !ident.Printable(u.DefaultLanguage, 64):
		return fault.New(fault.Invalid, "The default language is not 1 to 64 bytes of printable text.")
	case u.SupporterMonths < 0:
		return fault.New(fault.Invalid, "The supporter length is negative.")
	}
	return nil
}

// ValidateServices returns a fault.Invalid when a service or the user's id there is not printable text.
func ValidateServices(services map[string]string) error {
	for _, service := range slices.Sorted(maps.Keys(services)) {
		id := services[service]
		if service == "" || id == "" || !ident.Printable(service, 64) || !ident.Printable(id, 256) {
			return fault.New(fault.Invalid, "A service needs a name of at most 64 and an id of at most 256 bytes of printable text.")
		}
	}
	return nil
}

// Finder finds users as they are at this moment.
type Finder interface {
	// ByName returns the user with that name, whatever its case.
	// It fails with fault.NotFound when there is none and fault.Unavailable when the store does not answer.
	ByName(ctx context.Context, name Name) (User, error)
}

// StaleFinder finds users for those who only look: what it returns may be older than the question, by as
// much as the store was configured to allow, and must never decide what is written.
type StaleFinder interface {
	// StaleByName is Finder.ByName but for the age of the answer.
	StaleByName(ctx context.Context, name Name) (User, error)
}

// StaleIDFinder finds users by their ids, as StaleFinder does by their names.
type StaleIDFinder interface {
	// StaleByID returns the user with that id. It fails as StaleFinder.StaleByName does.
	StaleByID(ctx context.Context, id ID) (User, error)
}

// ErrNotFound is the fault.NotFound for a user who does not exist, and for one whom the asker may not see.
var ErrNotFound = fault.New(fault.NotFound, "There is no such user.")

// Find returns the user whom name names. It fails with fault.Invalid when name breaks a rule, with
// ErrNotFound when nobody has it, and with fault.Unavailable when the store does not answer.
func Find(ctx context.Context, users Finder, name string) (User, error) {
	parsed, err := ParseName(name)
	if err != nil {
		return User{}, err
	}
	found, err := users.ByName(ctx, parsed)
	return found, Gone(err)
}

// Gone returns ErrNotFound for a store's fault.NotFound about a user, and any other err as it is: a user
// can go at any moment, also between two calls.
func Gone(err error) error {
	if fault.Is(err, fault.NotFound) {
		return ErrNotFound
	}
	return err
}

// Creator stores new users.
type Creator interface {
	// Create stores a user and the services the user signs in with. It fails with fault.Conflict when the
	// name, in any case, or the id is taken: ident.ErrTaken is in the error's chain when it is the id.
	Create(ctx context.Context, created User, services map[string]string) error
}

// Lister lists users.
type Lister interface {
	// Each calls visit with every user in the order of their folded names. An error of visit ends the
	// walk and is returned; otherwise it fails with fault.Unavailable when the store does not answer.
	// What visit asks of the store may need what the walk holds, and then fails with fault.Internal; a store with a single
	// connection cannot answer it at all. Collect first, ask afterwards.
	Each(ctx context.Context, visit func(User) error) error
}

// ServiceFinder finds users with the services they sign in with.
type ServiceFinder interface {
	// WithServices is Finder.ByName, and returns the services by name as they were at the same instant.
	// The map is empty when there are none.
	WithServices(ctx context.Context, name Name) (User, map[string]string, error)
}

// Updater changes users.
type Updater interface {
	// Update calls change with the user of that name and its services as they are, in a transaction that
	// lets nobody else change them meanwhile, and stores and returns what change has made of them. Two
	// updates at once so both hold. The id and the time of creation stay as they are.
	//
	// An error of change is returned and leaves everything as it was. change must not call the store, and
	// can be called more than once, each time with fresh values. Update fails with fault.NotFound when
	// there is no such user, and with fault.Conflict when change has chosen a name that is taken.
	Update(ctx context.Context, name Name, change func(u *User, services map[string]string) error) (User, map[string]string, error)
}

// Deleter removes users.
type Deleter interface {
	// Delete removes the user of that name with everything that belongs to it (tokens, stars, services and
	// pastes) and returns its id. It fails with fault.NotFound when there is no such user.
	Delete(ctx context.Context, name Name) (ID, error)
}

// Importer stores users that another installation has made.
type Importer interface {
	// Import stores the accounts, by id, in one transaction: it creates those that are new and brings the
	// others into line, stars and services included. Names may move between the accounts in any way, also
	// in a circle. The results are in the accounts' order; one whose name belongs to another id, which
	// keeps it, is refused with fault.Conflict. An error means that nothing was stored.
	Import(ctx context.Context, accounts []Account) ([]batch.Result, error)
}
