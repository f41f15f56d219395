// Package accounts has the use cases about signing in with a provider or a password, and about who may have an account.
// Each fails with fault.Unavailable when the store or the provider does not answer.
package accounts

import (
	"fmt"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/notice"
	"github.com/gluepot/gluepot/domain/user"
)

// Registration says who may sign up.
type Registration string

// The registrations.
const (
	Closed Registration = "closed" // to all
	Invite Registration = "invite" // with an invitation
	Open   Registration = "open"   // to every account of a provider
)

// Validate fails when there is no such registration.
func (r Registration) Validate() error {
	if r != Closed && r != Invite && r != Open {
		return fmt.Errorf("GLUEPOT_REGISTRATION is %q: choose closed, invite or open", string(r))
	}
	return nil
}

// Options is what an installation chooses.
type Options struct {
	Providers    []identity.Provider
	Passwords    identity.Passwords // nil: there are none
	Passkeys     identity.Passkeys  // nil: there are none
	NoPasskeys   string             // why users cannot have any, although the operator wants them; or ""
	Registration Registration
	Notify       notice.Func // of new administrators
}

// UseCases is what can be asked about signing in and signing up.
type UseCases struct {
	Providers *Providers

	BeginSignIn  *BeginSignIn
	FinishSignIn *FinishSignIn
	ShowSignUp   *ShowSignUp
	SignUp       *SignUp

	Find *Find
	Link *Link

	Invite *Invitations

	Passwords   *Passwords
	Passkeys    *Passkeys
	Credentials *Credentials
	Register    *Register
	SetUp       *SetUp
	Reset       *Reset
}

// module is what the use cases share.
type module struct {
	sources      sources
	passwords    identity.Passwords
	passkeys     identity.Passkeys
	noPasskeys   string
	registration Registration
	notify       notice.Func
	store        identity.Store
	users        user.Store
	now          func() time.Time
}

// New returns the use cases over their ports.
func New(store identity.Store, users user.Store, options Options, now func() time.Time) *UseCases {
	m := &module{
		sources: options.Providers, passwords: options.Passwords, passkeys: options.Passkeys, noPasskeys: options.NoPasskeys,
		registration: options.Registration, notify: options.Notify,
		store: store, users: users, now: now,
	}
	return &UseCases{
		Providers: &Providers{m},

		BeginSignIn:  &BeginSignIn{m},
		FinishSignIn: &FinishSignIn{m},
		ShowSignUp:   &ShowSignUp{m},
		SignUp:       &SignUp{m},

		Find: &Find{m},
		Link: &Link{m},

		Invite: &Invitations{m},

		Passwords:   &Passwords{m},
		Passkeys:    &Passkeys{m},
		Credentials: &Credentials{m},
		Register:    &Register{m},
		SetUp:       &SetUp{m},
		Reset:       &Reset{m},
	}
}

// Providers lists the providers to sign in with.
type Providers struct{ *module }

// Do returns the providers that are configured.
func (p *Providers) Do() []identity.Provider { return p.sources }

// sources are the providers that are configured.
type sources []identity.Provider

func (s sources) named(name string) (identity.Provider, error) {
	for _, source := range s {
		if source.Name == name {
			return source, nil
		}
	}
	return identity.Provider{}, fault.New(fault.NotFound, "This server has no such provider to sign in with.")
}

// key returns the key of a configured provider, or else the name itself, which operators see in lists of identities.
func (s sources) key(name string) string {
	if source, err := s.named(name); err == nil {
		return source.Key
	}
	return name
}

// add gives a user an identity, as a change of user.Store.Update.
func add(account identity.Identity) func(*user.User, map[string]string) error {
	return func(_ *user.User, identities map[string]string) error {
		if subject, ok := identities[account.Key]; ok && subject != account.Subject {
			return errOtherLinked
		}
		identities[account.Key] = account.Subject
		return nil
	}
}

var errOtherLinked = fault.New(fault.Conflict,
	"Another account at this provider is already linked. Unlink it first.")
