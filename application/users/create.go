package users

import (
	"context"
	"errors"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/notice"
	"github.com/gluepot/gluepot/domain/user"
)

// Create creates an account, for the operator.
type Create struct{ *module }

// CreateInput is what a new account starts with.
type CreateInput struct {
	Name            string
	AvatarURL       string
	DefaultLanguage string // empty: user.DefaultLanguage
	PublicProfile   bool
	ShowTags        bool
	SupporterMonths int32
	Contributor     bool
	Admin           bool              // may moderate on pages
	Identities      map[string]string // key of a provider -> the user's id there
	Password        identity.PasswordHash
}

// Do creates the account and returns it. It fails with fault.Forbidden unless the actor is the operator, with
// fault.Invalid when a value breaks a rule, and with fault.Conflict when the name is taken in any case.
func (c *Create) Do(ctx context.Context, actor audit.Actor, input CreateInput) (user.User, error) {
	if err := actor.CheckOperator(); err != nil {
		return user.User{}, err
	}
	name, err := user.ParseName(input.Name)
	if err != nil {
		return user.User{}, err
	}
	if err := user.CheckAvatar(input.AvatarURL); err != nil {
		return user.User{}, err
	}
	newUser := user.User{
		Name:            name,
		AvatarURL:       input.AvatarURL,
		DefaultLanguage: input.DefaultLanguage,
		PublicProfile:   input.PublicProfile,
		ShowTags:        input.ShowTags,
		SupporterMonths: input.SupporterMonths,
		Contributor:     input.Contributor,
		Admin:           input.Admin,
		CreatedAt:       c.now(),
	}
	if newUser.DefaultLanguage == "" {
		newUser.DefaultLanguage = user.DefaultLanguage
	}
	err = ident.Draw(func(id user.ID) error {
		newUser.ID = id
		if err := validate(newUser, input.Identities); err != nil {
			return err
		}
		act := "user.create"
		if newUser.Admin {
			act = "user.create-admin"
		}
		credentials := identity.Credentials{Identities: input.Identities, Password: input.Password}
		entry := actor.Entry(act, newUser.NameAndID(), "")
		return c.identities.Enroll(ctx, actor.Address(), entry, newUser, credentials, identity.Admission{})
	})
	if !errors.Is(err, user.ErrIdentityTaken) {
		err = fault.Replace(err, fault.Conflict, user.ErrNameTaken)
	}
	if err == nil && newUser.Admin {
		c.notify.Tell(notice.Administrator(newUser, c.now()))
	}
	return newUser, err
}

func validate(u user.User, identities map[string]string) error {
	if err := u.Validate(); err != nil {
		return err
	}
	return user.ValidateIdentities(identities)
}
