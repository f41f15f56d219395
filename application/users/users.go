// Package users has the use cases about people and their profiles.
package users

import (
	"context"
	"time"

	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// CheckExists tells whether a username is taken.
type CheckExists struct{ users user.StaleFinder }

// NewCheckExists returns the use case.
func NewCheckExists(users user.StaleFinder) *CheckExists { return &CheckExists{users: users} }

// Do returns nil when a user with that name exists, fault.NotFound when none does, and
// fault.Unavailable when the store does not answer. A name outside the rules names nobody and is not looked up.
func (c *CheckExists) Do(ctx context.Context, name string) error {
	_, err := find(ctx, c.users, name)
	return err
}

// ShowProfile shows a user's public profile.
type ShowProfile struct{ users user.StaleFinder }

// NewShowProfile returns the use case.
func NewShowProfile(users user.StaleFinder) *ShowProfile { return &ShowProfile{users: users} }

// Do returns the user with that name if the profile is public. A private profile fails exactly as an
// unknown name does: with fault.NotFound. It fails with fault.Unavailable when the store does not answer.
func (s *ShowProfile) Do(ctx context.Context, name string) (user.User, error) {
	found, err := find(ctx, s.users, name)
	if err != nil {
		return user.User{}, err
	}
	if !found.PublicProfile {
		return user.User{}, user.ErrNotFound
	}
	return found, nil
}

// ShowSelf shows signed-in users their own account.
type ShowSelf struct {
	accounts token.AccountFinder
	uses     token.UseRecorder
	now      func() time.Time
}

// NewShowSelf returns the use case.
func NewShowSelf(accounts token.AccountFinder, uses token.UseRecorder, now func() time.Time) *ShowSelf {
	return &ShowSelf{accounts: accounts, uses: uses, now: now}
}

// Do returns the account that the secret opens. It fails with fault.Unauthenticated when the secret is
// empty, malformed, unknown, expired or revoked, and with fault.Unavailable when the store does not answer.
func (s *ShowSelf) Do(ctx context.Context, presented string) (user.Account, error) {
	secret, err := token.ParseSecret(presented)
	if err != nil {
		return user.Account{}, token.Rejected()
	}
	hash := secret.Hash()
	found, account, err := s.accounts.AccountByHash(ctx, hash)
	if err != nil {
		return user.Account{}, token.LookupFault(err)
	}
	now := s.now()
	if err := found.Verify(hash, now); err != nil {
		return user.Account{}, err
	}
	s.uses.RecordUse(found.ID, now)
	return account, nil
}

// find is user.Find for those who only look: a name outside the rules names nobody.
func find(ctx context.Context, users user.StaleFinder, name string) (user.User, error) {
	parsed, err := user.ParseName(name)
	if err != nil {
		return user.User{}, user.ErrNotFound
	}
	found, err := users.StaleByName(ctx, parsed)
	return found, user.Gone(err)
}
