package users

import (
	"context"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/user"
)

// Update changes a user.
type Update struct {
	users interface {
		user.Finder
		user.Updater
	}
}

// UpdateInput is what to change of a user; nil leaves a field alone.
type UpdateInput struct {
	AvatarURL       *string
	DefaultLanguage *string
	PublicProfile   *bool
	ShowTags        *bool
	SupporterMonths *int32
	Contributor     *bool
	Admin           *bool
	Services        map[string]string // an empty id removes the service; services not named stay
}

// Do changes the user of that name or id, see user.Find, and returns the result. It does not overwrite concurrent changes of
// other fields.
//
// It fails with fault.NotFound when there is no such user, with fault.Invalid when a value breaks a rule,
// and then nothing was changed, and with fault.Unavailable when the store does not answer.
func (u *Update) Do(ctx context.Context, reference string, change UpdateInput) (Account, error) {
	meant, err := user.Find(ctx, u.users, reference)
	if err != nil {
		return Account{}, err
	}
	noted := audit.Note(ctx, "user.update", audit.User(meant), "")
	updated, services, err := u.users.Update(noted, meant.ID, func(stored *user.User, services map[string]string) error {
		return change.apply(stored, services)
	})
	if err != nil {
		return Account{}, user.Gone(err)
	}
	return Account{User: updated, Services: services}, nil
}

// apply changes a user and its services, and validates the result.
func (c UpdateInput) apply(u *user.User, services map[string]string) error {
	if c.AvatarURL != nil {
		if err := user.CheckAvatar(*c.AvatarURL); err != nil {
			return err
		}
	}
	set(&u.AvatarURL, c.AvatarURL)
	set(&u.DefaultLanguage, c.DefaultLanguage)
	set(&u.PublicProfile, c.PublicProfile)
	set(&u.ShowTags, c.ShowTags)
	set(&u.SupporterMonths, c.SupporterMonths)
	set(&u.Contributor, c.Contributor)
	set(&u.Admin, c.Admin)
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
