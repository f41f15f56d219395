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

// Finder finds users.
type Finder interface {
	// ByName returns the user with that name, whatever its case.
	// It fails with fault.NotFound when there is none and fault.Unavailable when the store does not answer.
	ByName(ctx context.Context, name Name) (User, error)
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
	if err != nil && fault.KindOf(err) == fault.NotFound {
		return User{}, ErrNotFound
	}
	return found, err
}

// Creator stores new users.
type Creator interface {
	// Create stores a user and the services the user signs in with.
	// It fails with fault.Conflict when the id or the name, in any case, is taken.
	Create(ctx context.Context, created User, services map[string]string) error
}

// Lister lists users.
type Lister interface {
	// Each calls visit with every user in the order of their folded names. An error of visit ends the
	// walk and is returned; otherwise it fails with fault.Unavailable when the store does not answer.
	Each(ctx context.Context, visit func(User) error) error
}

// ServiceFinder finds the services a user signs in with.
type ServiceFinder interface {
	// Services returns them by name; the map is empty when there are none or no such user.
	Services(ctx context.Context, id ID) (map[string]string, error)
}

// Editor changes and removes users.
type Editor interface {
	// Update stores the user's new fields and exactly these services. It fails with fault.NotFound when
	// there is no user with that id and fault.Conflict when the name is taken.
	Update(ctx context.Context, changed User, services map[string]string) error
	// Delete removes the user with everything that belongs to it: tokens, stars, services and pastes.
	// It fails with fault.NotFound when there is no such user.
	Delete(ctx context.Context, id ID) error
}

// Counter counts users.
type Counter interface {
	// Count returns the number of users.
	Count(ctx context.Context) (int64, error)
}

// Importer stores users that another installation has made.
type Importer interface {
	// Import stores the accounts, by id, in one transaction: it creates those that are new and brings the
	// others into line, stars and services included. The results are in the accounts' order; one whose
	// name belongs to another id is refused with fault.Conflict. An error means that nothing was stored.
	Import(ctx context.Context, accounts []Account) ([]batch.Result, error)
}
