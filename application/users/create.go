package users

import (
	"context"
	"errors"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/notice"
	"github.com/gluepot/gluepot/domain/user"
)

// Create creates an account.
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
	Services        map[string]string // name of a service -> the user's id there
}

// Do creates the account and returns it. It fails with fault.Invalid when a value breaks a rule, and with fault.Conflict when the
// name is taken in any case.
func (c *Create) Do(ctx context.Context, wanted CreateInput) (user.User, error) {
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
		if err := validate(created, wanted.Services); err != nil {
			return err
		}
		act := "user.create"
		if created.Admin {
			act = "user.create-admin"
		}
		return c.store.Create(audit.Note(ctx, act, created.NameAndID(), ""), created, wanted.Services)
	})
	if !errors.Is(err, user.ErrServiceTaken) {
		err = fault.Replace(err, fault.Conflict, user.ErrNameTaken)
	}
	if err == nil && created.Admin {
		c.tellOfAdministrator(created)
	}
	return created, err
}

// tellOfAdministrator tells the operator of a user who has become an administrator.
func (m *module) tellOfAdministrator(u user.User) {
	text := u.Name.String() + " is an administrator now. Check that this was meant: gluepot audit list says who made one."
	m.notify.Tell(notice.Notice{Event: notice.NewAdministrator, At: m.now(), Subject: u.NameAndID(), Text: text})
}

func validate(u user.User, services map[string]string) error {
	if err := u.Validate(); err != nil {
		return err
	}
	return user.ValidateServices(services)
}
