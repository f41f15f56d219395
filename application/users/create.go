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
	Identities      map[string]string // name of a service -> the user's id there
	Password        identity.PasswordHash
}

// Do creates the account and returns it. It fails with fault.Forbidden unless the actor is the operator, with
// fault.Invalid when a value breaks a rule, and with fault.Conflict when the name is taken in any case.
func (c *Create) Do(ctx context.Context, actor audit.Actor, wanted CreateInput) (user.User, error) {
	if err := actor.CheckOperator(); err != nil {
		return user.User{}, err
	}
	name, err := user.ParseName(wanted.Name)
	if err != nil {
		return user.User{}, err
	}
	if err := user.CheckAvatar(wanted.AvatarURL); err != nil {
		return user.User{}, err
	}
	created := user.User{
		Name:            name,
		AvatarURL:       wanted.AvatarURL,
		DefaultLanguage: wanted.DefaultLanguage,
		PublicProfile:   wanted.PublicProfile,
		ShowTags:        wanted.ShowTags,
		SupporterMonths: wanted.SupporterMonths,
		Contributor:     wanted.Contributor,
		Admin:           wanted.Admin,
		CreatedAt:       c.now(),
	}
	if created.DefaultLanguage == "" {
		created.DefaultLanguage = user.DefaultLanguage
	}
	err = ident.Draw(func(id user.ID) error {
		created.ID = id
		if err := validate(created, wanted.Identities); err != nil {
			return err
		}
		act := "user.create"
		if created.Admin {
			act = "user.create-admin"
		}
		ways := identity.Credentials{Identities: wanted.Identities, Password: wanted.Password}
		entry := actor.Entry(act, created.NameAndID(), "")
		return c.store.Enroll(ctx, actor.Address(), entry, created, ways, identity.Admission{})
	})
	if !errors.Is(err, user.ErrIdentityTaken) {
		err = fault.Replace(err, fault.Conflict, user.ErrNameTaken)
	}
	if err == nil && created.Admin {
		c.notify.Tell(notice.Administrator(created, c.now()))
	}
	return created, err
}

func validate(u user.User, services map[string]string) error {
	if err := u.Validate(); err != nil {
		return err
	}
	return user.ValidateIdentities(services)
}
