package accounts

import (
	"context"
	"errors"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/user"
)

// ShowSignUp shows a visitor who must choose a name after a provider has vouched for them.
type ShowSignUp struct {
	sources sources
	store   identity.AttemptKeeper
	users   Users
}

// Newcomer is a visitor who may have an account.
type Newcomer struct {
	Provider string // as people call it
	Name     string // that is proposed and free, or ""
}

// Do returns the newcomer of the attempt with that secret. It fails with fault.Invalid when there is none, or none any more,
// and with fault.Unavailable when the store does not answer.
func (s *ShowSignUp) Do(ctx context.Context, secret string) (Newcomer, error) {
	attempt, err := vouched(ctx, s.store, secret)
	if err != nil {
		return Newcomer{}, err
	}
	source, err := s.sources.named(attempt.Source)
	if err != nil {
		return Newcomer{}, err
	}
	proposed, err := user.ParseName(attempt.Profile.Name)
	if err == nil {
		err = proposed.CheckChosen()
	}
	if err != nil {
		return Newcomer{Provider: source.Label}, nil //nolint:nilerr // it is only proposed
	}
	_, err = s.users.ByName(ctx, proposed)
	if fault.Is(err, fault.NotFound) {
		_, err = s.users.ByFormerName(ctx, proposed)
	}
	switch {
	case fault.Is(err, fault.NotFound):
		return Newcomer{Provider: source.Label, Name: proposed.String()}, nil
	case err != nil:
		return Newcomer{}, err
	}
	return Newcomer{Provider: source.Label}, nil
}

// vouched returns an attempt whose visitor a provider has vouched for.
func vouched(ctx context.Context, store identity.AttemptKeeper, secret string) (identity.Attempt, error) {
	attempt, err := store.Attempt(ctx, identity.HashOf(secret))
	if fault.Is(err, fault.NotFound) || err == nil && attempt.Profile.Subject == "" {
		return identity.Attempt{}, errStale
	}
	return attempt, err
}

// SignUp creates the account of an attempt.
type SignUp struct {
	store interface {
		identity.AttemptKeeper
		identity.Registrar
		identity.Finder
	}
	now func() time.Time
}

// Do returns the new user, and the path to go on to. When the same person has signed up meanwhile, it returns that account.
//
// It fails with fault.Invalid when the name breaks a rule or is reserved, or there is no such attempt, or none any more; with
// fault.Conflict when the name is taken, and then the attempt goes on; with identity.ErrUsedUp when the invitation is not valid any
// more; and with fault.Unavailable when the store does not answer.
func (s *SignUp) Do(ctx context.Context, secret, name string) (_ user.User, next string, err error) {
	attempt, err := vouched(ctx, s.store, secret)
	if err != nil {
		return user.User{}, "", err
	}
	chosen, err := user.ParseName(name)
	if err == nil {
		err = chosen.CheckChosen()
	}
	if err != nil {
		return user.User{}, "", err
	}
	created := user.User{
		Name: chosen, AvatarURL: attempt.Profile.AvatarURL, DefaultLanguage: user.DefaultLanguage, CreatedAt: s.now(),
	}
	err = ident.Draw(func(id user.ID) error {
		created.ID = id
		return s.store.SignUp(ctx, identity.HashOf(secret), created)
	})
	switch {
	case errors.Is(err, user.ErrServiceTaken):
		created, err = s.store.ByIdentity(ctx, attempt.Profile.Identity)
	case fault.Is(err, fault.NotFound):
		err = errStale
	case fault.Is(err, fault.Conflict):
		err = fault.Wrap(fault.Conflict, "The username is taken. Choose another.", err)
	}
	if err != nil {
		return user.User{}, "", err
	}
	return created, attempt.Next, nil
}
