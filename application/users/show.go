package users

import (
	"context"

	"github.com/gluepot/gluepot/domain/user"
)

// Account is a profile with the services its owner signs in with, as an operator sees it.
type Account struct {
	user.User
	Services map[string]string // name of a service -> the user's id there
}

// Show shows an operator any user, private profile or not.
type Show struct {
	users interface {
		user.Finder
		user.ServiceFinder
	}
}

// Do returns the user of that name or id, see user.Find. It fails with fault.NotFound when there is none, with
// fault.Invalid when the name breaks a rule, and with fault.Unavailable when the store does not answer.
func (s *Show) Do(ctx context.Context, reference string) (Account, error) {
	meant, err := user.Find(ctx, s.users, reference)
	if err != nil {
		return Account{}, err
	}
	found, services, err := s.users.WithServices(ctx, meant.ID)
	if err != nil {
		return Account{}, user.Gone(err)
	}
	return Account{User: found, Services: services}, nil
}
