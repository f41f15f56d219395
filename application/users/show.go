package users

import (
	"context"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// CheckExists tells whether a username is taken.
type CheckExists struct{ *module }

// Do returns nil when a user with that name exists, and fails with user.ErrNotFound when none does.
func (c *CheckExists) Do(ctx context.Context, name string) error {
	_, err := user.FindByName(ctx, name, c.store.StaleByName)
	return err
}

// ShowProfile shows public profiles.
type ShowProfile struct{ *module }

// Do returns the user with that name if the profile is public. A private profile fails exactly as an unknown name does:
// with user.ErrNotFound.
func (s *ShowProfile) Do(ctx context.Context, name string) (user.User, error) {
	return user.Public(user.FindByName(ctx, name, s.store.StaleByName))
}

// ByID is Do for the user with that id.
func (s *ShowProfile) ByID(ctx context.Context, id user.ID) (user.User, error) {
	return user.Public(s.store.StaleByID(ctx, id))
}

// ByFormerName is Do for the user who gave up that name last.
func (s *ShowProfile) ByFormerName(ctx context.Context, name string) (user.User, error) {
	return user.Public(user.FindByName(ctx, name, s.store.ByFormerName))
}

// ShowSelf shows signed-in users their own account.
type ShowSelf struct{ *module }

// Do returns the viewer's account. It fails with token.ErrRejected also when that was deleted meanwhile.
func (s *ShowSelf) Do(ctx context.Context, viewer token.Viewer) (user.Account, error) {
	if !viewer.SignedIn() {
		return user.Account{}, token.ErrRejected
	}
	account, err := s.store.AccountByID(ctx, viewer.User.ID)
	return account, fault.Replace(err, fault.NotFound, token.ErrRejected)
}

// Show shows administrators any user, even one with a private profile.
type Show struct{ *module }

// Do returns the account of the user with that name or id. It fails as audit.Actor.CheckAdministrator and user.Find do.
func (s *Show) Do(ctx context.Context, actor audit.Actor, reference string) (user.Account, error) {
	if err := actor.CheckAdministrator(); err != nil {
		return user.Account{}, err
	}
	target, err := user.Find(ctx, s.store, reference)
	if err != nil {
		return user.Account{}, err
	}
	account, err := s.store.AccountByID(ctx, target.ID)
	return account, user.ReplaceNotFound(err)
}

// List lists all users for administrators.
type List struct{ *module }

// listPage is how many users are read at once.
const listPage = 500

// Do calls visit with every user in the order of their names, ignoring case. It reads a page at a time, so that a slow
// visit blocks nothing in the store. It fails as audit.Actor.CheckAdministrator does, and with visit's first error.
func (l *List) Do(ctx context.Context, actor audit.Actor, visit func(user.User) error) error {
	if err := actor.CheckAdministrator(); err != nil {
		return err
	}
	return batch.Each(user.Name{}, 0, func(after user.Name) ([]user.User, user.Name, error) {
		users, err := l.store.Users(ctx, after, listPage)
		return users, batch.Last(users, listPage).Name, err
	}, visit)
}
