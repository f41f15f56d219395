package users

import (
	"context"

	"github.com/gluepot/gluepot/domain/trace"
	"github.com/gluepot/gluepot/domain/user"
)

// Update changes a user.
type Update struct{ users user.Updater }

// UpdateInput is what to change of a user; nil leaves a field alone.
type UpdateInput struct {
	AvatarURL       *string
	DefaultLanguage *string
	PublicProfile   *bool
	SupporterMonths *int32
	Contributor     *bool
	Services        map[string]string // an empty id removes the service; services not named stay
}

// Do changes the user with that name and returns the result. What change leaves alone stays as it is, also
// when somebody else changes it at the same moment.
//
// It fails with fault.NotFound when there is no such user, with fault.Invalid when a value breaks a rule,
// and then nothing was changed, and with fault.Unavailable when the store does not answer.
func (u *Update) Do(ctx context.Context, name string, change UpdateInput) (_ Account, err error) {
	ctx, end := trace.Start(ctx, "users.Update")
	defer func() { end(err) }()
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
func (c UpdateInput) apply(u *user.User, services map[string]string) error {
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
