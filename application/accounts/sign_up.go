package accounts

import (
	"context"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/user"
)

// ShowSignUp shows a visitor who must choose a name after a provider has vouched for them.
type ShowSignUp struct{ *module }

// Newcomer is a visitor who may have an account.
type Newcomer struct {
	Provider string // as people call it
	Name     string // proposed and free, or ""
}

// Do returns the newcomer of the attempt with that secret. It fails with fault.Invalid when there is no such attempt,
// or it is over.
func (s *ShowSignUp) Do(ctx context.Context, secret string) (Newcomer, error) {
	attempt, err := s.attempt(ctx, secret)
	if err != nil {
		return Newcomer{}, err
	}
	source, err := s.sources.named(attempt.Provider)
	if err != nil {
		return Newcomer{}, err
	}
	newcomer := Newcomer{Provider: source.Label}
	suggestion, err := parseChosenName(attempt.Profile.Name)
	if err != nil {
		return newcomer, nil //nolint:nilerr // it is only proposed
	}
	_, err = s.users.ByName(ctx, suggestion)
	if fault.Is(err, fault.NotFound) {
		_, err = s.users.ByFormerName(ctx, suggestion)
	}
	if fault.Is(err, fault.NotFound) {
		newcomer.Name, err = suggestion.String(), nil
	}
	return newcomer, err
}

// attempt returns an attempt whose visitor a provider has vouched for.
func (m *module) attempt(ctx context.Context, secret string) (identity.Attempt, error) {
	attempt, err := m.store.Attempt(ctx, identity.HashOf(secret))
	if fault.Is(err, fault.NotFound) || err == nil && attempt.Profile.Subject == "" {
		return identity.Attempt{}, errStale
	}
	return attempt, err
}

// parseChosenName returns a name that a newcomer may choose.
func parseChosenName(text string) (user.Name, error) {
	name, err := user.ParseName(text)
	if err == nil {
		err = name.CheckChosen()
	}
	return name, err
}

// SignUp creates the account of an attempt.
type SignUp struct{ *module }

// Do returns the new user, and the path to go on to. When the same person signs up at the same time, it returns that
// account.
//
// It fails with fault.Invalid when the name breaks a rule or is reserved, or when there is no such attempt or it is
// over; with fault.Forbidden when new users are not taken any more; with fault.Conflict when the name is taken (the
// attempt then goes on); and with identity.ErrInvitation when the invitation is not valid any more.
func (s *SignUp) Do(
	ctx context.Context, actor audit.Actor, secret, name string,
) (_ user.User, next string, err error) {
	if _, err := actor.Viewer(); err != nil {
		return user.User{}, "", err
	}
	attempt, err := s.attempt(ctx, secret)
	if err != nil {
		return user.User{}, "", err
	}
	if err := s.checkRegistration(attempt); err != nil { // it may have changed since the attempt began
		return user.User{}, "", err
	}
	userName, err := parseChosenName(name)
	if err != nil {
		return user.User{}, "", err
	}
	newUser := user.User{
		Name: userName, AvatarURL: attempt.Profile.AvatarURL, DefaultLanguage: user.DefaultLanguage, CreatedAt: s.now(),
	}
	err = ident.Draw(func(id user.ID) error {
		newUser.ID = id
		return s.store.SignUp(ctx, actor.Address(), identity.HashOf(secret), newUser)
	})
	if fault.Is(err, fault.Conflict) || fault.Is(err, fault.NotFound) {
		if existing, notFound := s.store.ByIdentity(ctx, attempt.Profile.Identity); notFound == nil {
			return existing, attempt.Next, nil
		}
	}
	return newUser, attempt.Next, fault.Replace(fault.Replace(err, fault.NotFound, errStale), fault.Conflict,
		user.ErrNameTaken)
}
