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
		ID:              user.ID(ident.New()),
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
	if err := created.Validate(); err != nil {
		return user.User{}, err
	}
	if err := user.ValidateServices(wanted.Services); err != nil {
		return user.User{}, err
	}
	if err := c.users.Create(ctx, created, wanted.Services); err != nil {
		if fault.KindOf(err) == fault.Conflict {
			return user.User{}, fault.Wrap(fault.Conflict, "The username is taken. Choose another.", err)
		}
		return user.User{}, err
	}
	return created, nil
}

// Account is a profile with the services its owner signs in with, as an operator sees it.
type Account struct {
	user.User
	Services map[string]string // name of a service -> the user's id there
}

// Show shows an operator any user, private profile or not.
type Show struct {
	users    user.Finder
	services user.ServiceFinder
}

// NewShow returns the use case.
func NewShow(users user.Finder, services user.ServiceFinder) *Show {
	return &Show{users: users, services: services}
}

// Do returns the user with that name. It fails with fault.NotFound when there is none, with fault.Invalid
// when the name breaks a rule, and with fault.Unavailable when the store does not answer.
func (s *Show) Do(ctx context.Context, name string) (Account, error) {
	found, err := user.Find(ctx, s.users, name)
	if err != nil {
		return Account{}, err
	}
	services, err := s.services.Services(ctx, found.ID)
	return Account{User: found, Services: services}, err
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
type Update struct {
	show  *Show
	users user.Editor
}

// NewUpdate returns the use case.
func NewUpdate(show *Show, users user.Editor) *Update { return &Update{show: show, users: users} }

// Do changes the user with that name and returns the result. It fails with fault.NotFound when there is
// none, with fault.Invalid when a value breaks a rule, and with fault.Unavailable when the store does not answer.
func (u *Update) Do(ctx context.Context, name string, change Change) (Account, error) {
	account, err := u.show.Do(ctx, name)
	if err != nil {
		return Account{}, err
	}
	set(&account.AvatarURL, change.AvatarURL)
	set(&account.DefaultLanguage, change.DefaultLanguage)
	set(&account.PublicProfile, change.PublicProfile)
	set(&account.SupporterMonths, change.SupporterMonths)
	set(&account.Contributor, change.Contributor)
	for service, id := range change.Services {
		if id == "" {
			delete(account.Services, service)
		} else {
			account.Services[service] = id
		}
	}
	if err := account.Validate(); err != nil {
		return Account{}, err
	}
	if err := user.ValidateServices(account.Services); err != nil {
		return Account{}, err
	}
	return account, u.users.Update(ctx, account.User, account.Services)
}

func set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

// Delete removes a user.
type Delete struct {
	users  user.Finder
	editor user.Editor
}

// NewDelete returns the use case.
func NewDelete(users user.Finder, editor user.Editor) *Delete {
	return &Delete{users: users, editor: editor}
}

// Do removes the user with that name, and with the user its tokens, stars and pastes. It fails with
// fault.NotFound when there is none, with fault.Invalid when the name breaks a rule, and with
// fault.Unavailable when the store does not answer.
func (d *Delete) Do(ctx context.Context, name string) error {
	found, err := user.Find(ctx, d.users, name)
	if err != nil {
		return err
	}
	return d.editor.Delete(ctx, found.ID)
}
