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
	attempt, err := s.vouched(ctx, secret)
	if err != nil {
		return Newcomer{}, err
	}
	source, err := s.sources.named(attempt.Provider)
	if err != nil {
		return Newcomer{}, err
	}
	shown := Newcomer{Provider: source.Label}
	proposed, err := chosen(attempt.Profile.Name)
	if err != nil {
		return shown, nil //nolint:nilerr // it is only proposed
	}
	_, err = s.users.ByName(ctx, proposed)
	if fault.Is(err, fault.NotFound) {
		_, err = s.users.ByFormerName(ctx, proposed)
	}
	if fault.Is(err, fault.NotFound) {
		shown.Name, err = proposed.String(), nil
	}
	return shown, err
}

// vouched returns an attempt whose visitor a provider has vouched for.
func (m *module) vouched(ctx context.Context, secret string) (identity.Attempt, error) {
	attempt, err := m.store.Attempt(ctx, identity.HashOf(secret))
	if fault.Is(err, fault.NotFound) || err == nil && attempt.Profile.Subject == "" {
		return identity.Attempt{}, errStale
	}
	return attempt, err
}

// chosen returns a name that a newcomer may choose.
func chosen(text string) (user.Name, error) {
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
// over; with fault.Conflict when the name is taken (the attempt then goes on); and with identity.ErrInvitation when the
// invitation is not valid any more.
func (s *SignUp) Do(
	ctx context.Context, actor audit.Actor, secret, name string,
) (_ user.User, next string, err error) {
	if _, err := actor.Viewer(); err != nil {
		return user.User{}, "", err
	}
	attempt, err := s.vouched(ctx, secret)
	if err != nil {
		return user.User{}, "", err
	}
	parsed, err := chosen(name)
	if err != nil {
		return user.User{}, "", err
	}
	created := user.User{
		Name: parsed, AvatarURL: attempt.Profile.AvatarURL, DefaultLanguage: user.DefaultLanguage, CreatedAt: s.now(),
	}
	err = ident.Draw(func(id user.ID) error {
		created.ID = id
		return s.store.SignUp(ctx, actor.Address(), identity.HashOf(secret), created)
	})
	if fault.Is(err, fault.Conflict) || fault.Is(err, fault.NotFound) {
		if known, notFound := s.store.ByIdentity(ctx, attempt.Profile.Identity); notFound == nil {
			return known, attempt.Next, nil
		}
	}
	return created, attempt.Next, fault.Replace(fault.Replace(err, fault.NotFound, errStale), fault.Conflict,
		user.ErrNameTaken)
}
