package users

import (
	"context"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/user"
)

// Create creates an account.
type Create struct {
	users user.Creator
	now   func() time.Time
}

// NewCreate returns the use case.
func NewCreate(users user.Creator, now func() time.Time) *Create {
	return &Create{users: users, now: now}
}

// New is what a new account starts with.
type New struct {
	Name            string
	AvatarURL       string
	DefaultLanguage string // empty: user.DefaultLanguage
	PublicProfile   bool
	SupporterMonths int32
	Contributor     bool
	Services        map[string]string // name of a service -> the user's id there
}

// Do creates the account and returns it. It fails with fault.Invalid when a value breaks a rule, with
// fault.Conflict when the name is taken in any case, and with fault.Unavailable when the store does not answer.
func (c *Create) Do(ctx context.Context, wanted New) (user.User, error) {
	name, err := user.ParseName(wanted.Name)
	if err != nil {
		return user.User{}, err
	}
	created := user.User{
		Name:            name,
		AvatarURL:       wanted.AvatarURL,
		DefaultLanguage: wanted.DefaultLanguage,
		PublicProfile:   wanted.PublicProfile,
		SupporterMonths: wanted.SupporterMonths,
		Contributor:     wanted.Contributor,
		CreatedAt:       c.now(),
	}
	if created.DefaultLanguage == "" {
		created.DefaultLanguage = user.DefaultLanguage
	}
	err = ident.Draw(func(id user.ID) error {
		created.ID = id
		if err := validate(created, wanted.Services); err != nil {
			return err
		}
		return c.users.Create(ctx, created, wanted.Services)
	})
	if err != nil {
		if fault.KindOf(err) == fault.Conflict {
			err = fault.Wrap(fault.Conflict, "The username is taken. Choose another.", err)
		}
		return user.User{}, err
	}
	return created, nil
}

func validate(u user.User, services map[string]string) error {
	if err := u.Validate(); err != nil {
		return err
	}
	return user.ValidateServices(services)
}

// Account is a profile with the services its owner signs in with, as an operator sees it.
type Account struct {
	user.User
	Services map[string]string // name of a service -> the user's id there
}

// Show shows an operator any user, private profile or not.
type Show struct{ users user.ServiceFinder }

// NewShow returns the use case.
func NewShow(users user.ServiceFinder) *Show { return &Show{users: users} }

// Do returns the user with that name. It fails with fault.NotFound when there is none, with fault.Invalid
// when the name breaks a rule, and with fault.Unavailable when the store does not answer.
func (s *Show) Do(ctx context.Context, name string) (Account, error) {
	parsed, err := user.ParseName(name)
	if err != nil {
		return Account{}, err
	}
	found, services, err := s.users.WithServices(ctx, parsed)
	if err != nil {
		return Account{}, user.Gone(err)
	}
	return Account{User: found, Services: services}, nil
}

// List lists all users.
type List struct{ users user.Lister }

// NewList returns the use case.
func NewList(users user.Lister) *List { return &List{users: users} }

// Do calls visit with every user in the order of their names, whatever the case. An error of visit ends
// the walk and is returned; otherwise it fails with fault.Unavailable when the store does not answer.
func (l *List) Do(ctx context.Context, visit func(user.User) error) error {
	return l.users.Each(ctx, visit)
}

// Change says what to change of a user; nil leaves a field alone.
type Change struct {
	AvatarURL       *string
	DefaultLanguage *string
	PublicProfile   *bool
	SupporterMonths *int32
	Contributor     *bool
	Services        map[string]string // an empty id removes the service; services not named stay
}

// Update changes a user.
type Update struct{ users user.Editor }

// NewUpdate returns the use case.
func NewUpdate(users user.Editor) *Update { return &Update{users: users} }

// Do changes the user with that name and returns the result. What change leaves alone stays as it is, also
// when somebody else changes it at the same moment.
//
// It fails with fault.NotFound when there is no such user, with fault.Invalid when a value breaks a rule,
// and then nothing was changed, and with fault.Unavailable when the store does not answer.
func (u *Update) Do(ctx context.Context, name string, change Change) (Account, error) {
	parsed, err := user.ParseName(name)
	if err != nil {
		return Account{}, err
	}
	updated, services, err := u.users.Update(ctx, parsed, change.apply)
	if err != nil {
		return Account{}, user.Gone(err)
	}
	return Account{User: updated, Services: services}, nil
}

// apply changes a user and its services, and holds the result against the rules.
func (c Change) apply(u *user.User, services map[string]string) error {
	set(&u.AvatarURL, c.AvatarURL)
	set(&u.DefaultLanguage, c.DefaultLanguage)
	set(&u.PublicProfile, c.PublicProfile)
	set(&u.SupporterMonths, c.SupporterMonths)
	set(&u.Contributor, c.Contributor)
	for service, id := range c.Services {
		if id == "" {
			delete(services, service)
		} else {
			services[service] = id
		}
	}
	return validate(*u, services)
}

func set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

// Delete removes a user.
type Delete struct{ users user.Editor }

// NewDelete returns the use case.
func NewDelete(users user.Editor) *Delete { return &Delete{users: users} }

// Do removes the user with that name, and with the user its tokens, stars and pastes, and returns its id.
// It fails with fault.NotFound when there is none, with fault.Invalid when the name breaks a rule, and with
// fault.Unavailable when the store does not answer.
func (d *Delete) Do(ctx context.Context, name string) (user.ID, error) {
	parsed, err := user.ParseName(name)
	if err != nil {
		return "", err
	}
	id, err := d.users.Delete(ctx, parsed)
	if err != nil {
		return "", user.Gone(err)
	}
	return id, nil
}
