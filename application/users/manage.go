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
