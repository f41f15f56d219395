// Package users has the use cases about people and their profiles.
package users

import (
	"context"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// CheckExists tells whether a username is taken.
type CheckExists struct{ users user.Finder }

// NewCheckExists returns the use case.
func NewCheckExists(users user.Finder) *CheckExists { return &CheckExists{users: users} }

// Do returns nil when a user with that name exists, fault.NotFound when none does, and
// fault.Unavailable when the store does not answer. A name outside the rules names nobody and is not looked up.
func (c *CheckExists) Do(ctx context.Context, name string) error {
	_, err := find(ctx, c.users, name)
	return err
}

// ShowProfile shows a user's public profile.
type ShowProfile struct{ users user.Finder }

// NewShowProfile returns the use case.
func NewShowProfile(users user.Finder) *ShowProfile { return &ShowProfile{users: users} }

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
	hash, now := secret.Hash(), s.now()
	found, account, err := s.accounts.AccountByHash(ctx, hash, now)
	if err != nil {
		return user.Account{}, token.LookupFault(err)
	}
	if err := found.Verify(hash, now); err != nil {
		return user.Account{}, err
	}
	s.uses.RecordUse(found.ID, now)
	return account, nil
}

// find is user.Find for those who only ask: a name outside the rules names nobody.
func find(ctx context.Context, users user.Finder, name string) (user.User, error) {
	found, err := user.Find(ctx, users, name)
	if err != nil && fault.KindOf(err) == fault.Invalid {
		return user.User{}, user.ErrNotFound
	}
	return found, err
}
