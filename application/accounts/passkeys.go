package accounts

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// Passkeys are how users sign in with passkeys, and make them.
type Passkeys struct{ *module }

// On reports whether this installation takes passkeys.
func (p *Passkeys) On() bool { return p.passkeys != nil }

// WhyOff returns why it takes none although the operator wants them, or "".
func (p *Passkeys) WhyOff() string { return p.noPasskeys }

// The purposes of ceremonies.
const (
	purposeSignIn = "sign-in"
	purposeAdd    = "add"
	purposeJoin   = "join"
	purposeSetUp  = "setup"
	purposeReset  = "reset"
)

var errStaleCeremony = fault.New(fault.Invalid,
	"This attempt was started in another browser, took longer than five minutes, or is already finished. Start again.")

// PasskeyCeremony is a ceremony that has begun.
type PasskeyCeremony struct {
	Secret  string // for the browser alone
	Options []byte // JSON, for its script
}

// begin asks for a new passkey of an owner, or for any passkey.
func (m *module) begin(ctx context.Context, ceremony identity.Ceremony, name string, others []identity.Passkey) (
	started PasskeyCeremony, err error,
) {
	if m.passkeys == nil {
		return started, identity.ErrNoPasskeys
	}
	var options identity.CeremonyOptions
	if ceremony.Owner == "" {
		options, err = m.passkeys.BeginAuthentication()
	} else {
		options, err = m.passkeys.BeginRegistration(ceremony.Owner, name, others)
	}
	if err != nil {
		return started, err
	}
	started = PasskeyCeremony{Secret: rand.Text(), Options: options.JSON}
	ceremony.Challenge = options.Challenge
	return started, m.store.StoreCeremony(ctx, identity.HashOf(started.Secret), ceremony, identity.MaxAttempts)
}

// take returns the ceremony with that secret, which nobody gets again.
func (m *module) take(ctx context.Context, purpose, secret string) (identity.Ceremony, error) {
	if m.passkeys == nil {
		return identity.Ceremony{}, identity.ErrNoPasskeys
	}
	ceremony, err := m.store.TakeCeremony(ctx, identity.HashOf(secret))
	if fault.Is(err, fault.NotFound) || err == nil && ceremony.Purpose != purpose {
		err = errStaleCeremony
	}
	return ceremony, err
}

// finish returns the passkey that a browser has made.
func (m *module) finish(ceremony identity.Ceremony, answer NewPasskey) (identity.Passkey, error) {
	if err := identity.CheckPasskeyName(answer.Name); err != nil {
		return identity.Passkey{}, err
	}
	passkey, err := m.passkeys.FinishRegistration(ceremony.Challenge, ceremony.Owner, answer.Answer)
	passkey.Name, passkey.CreatedAt = answer.Name, m.now()
	return passkey, err
}

// NewPasskey is a passkey that a browser has made.
type NewPasskey struct {
	Secret string // of the ceremony
	Name   string // of the passkey
	Answer []byte // JSON of the browser
}

// BeginSignIn asks a browser for any passkey. It fails with identity.ErrNoPasskeys where they are off.
func (p *Passkeys) BeginSignIn(ctx context.Context, actor audit.Actor) (PasskeyCeremony, error) {
	if _, err := actor.Viewer(); err != nil {
		return PasskeyCeremony{}, err
	}
	return p.begin(ctx, identity.Ceremony{Purpose: purposeSignIn}, "", nil)
}

// SignIn returns whose passkey has signed. It fails with fault.Invalid when the ceremony is not this browser's or is
// over, with identity.ErrPasskey when the answer proves nothing, with identity.ErrCloned, and with token.ErrSuspended.
func (p *Passkeys) SignIn(ctx context.Context, actor audit.Actor, secret string, answer []byte) (user.User, error) {
	if _, err := actor.Viewer(); err != nil {
		return user.User{}, err
	}
	ceremony, err := p.take(ctx, purposeSignIn, secret)
	if err != nil {
		return user.User{}, err
	}
	var owner user.User
	id, counter, err := p.passkeys.FinishAuthentication(ceremony.Challenge, answer,
		func(id identity.PasskeyID) (passkey identity.Passkey, ownerID user.ID, err error) {
			passkey, owner, err = p.store.PasskeyByID(ctx, id)
			return passkey, owner.ID, err
		})
	if err != nil {
		return user.User{}, err
	}
	if owner.Suspended {
		return user.User{}, token.ErrSuspended
	}
	err = p.store.UsePasskey(ctx, actor.Address(), id, counter, p.now())
	if errors.Is(err, identity.ErrCloned) {
		err = fault.Wrap(fault.Forbidden, identity.ErrCloned.Message, fmt.Errorf(
			"%w: the counter of the passkey %s of the user %s came as %d", err, id, owner.ID, counter))
	}
	return owner, fault.Replace(err, fault.NotFound, identity.ErrPasskey)
}

// recentViewer returns the viewer, who has begun a session within the last hour.
func (m *module) recentViewer(actor audit.Actor) (token.Viewer, error) {
	viewer, err := actor.User()
	if err == nil && !viewer.SignedInRecently(m.now()) {
		err = token.ErrRejected
	}
	return viewer, err
}

var errManyPasskeys = fault.New(fault.Conflict,
	fmt.Sprintf("You have reached the limit of %d passkeys. Remove one first.", identity.MaxPasskeys))

// BeginAdd asks the viewer's browser for another passkey. It fails with token.ErrRejected unless the viewer has a
// session that was begun within the last hour, and with fault.Conflict when the viewer has too many.
func (p *Passkeys) BeginAdd(ctx context.Context, actor audit.Actor) (PasskeyCeremony, error) {
	viewer, err := p.recentViewer(actor)
	if err != nil {
		return PasskeyCeremony{}, err
	}
	credentials, err := p.store.CredentialsOf(ctx, viewer.User.ID)
	if err != nil {
		return PasskeyCeremony{}, fault.Replace(err, fault.NotFound, token.ErrRejected)
	}
	if len(credentials.Passkeys) >= identity.MaxPasskeys {
		return PasskeyCeremony{}, errManyPasskeys
	}
	ceremony := identity.Ceremony{Purpose: purposeAdd, Owner: viewer.User.ID}
	return p.begin(ctx, ceremony, viewer.User.Name.String(), credentials.Passkeys)
}

// Add gives the viewer another passkey. It fails as BeginAdd does, with fault.Invalid when the name breaks a rule, or
// the ceremony is not this viewer's or is over, with identity.ErrNewPasskey when the answer proves nothing, and with
// identity.ErrPasskeyTaken.
func (p *Passkeys) Add(ctx context.Context, actor audit.Actor, answer NewPasskey) error {
	viewer, err := p.recentViewer(actor)
	if err != nil {
		return err
	}
	ceremony, err := p.take(ctx, purposeAdd, answer.Secret)
	if err == nil && ceremony.Owner != viewer.User.ID {
		err = errStaleCeremony
	}
	if err != nil {
		return err
	}
	passkey, err := p.finish(ceremony, answer)
	if err != nil {
		return err
	}
	return p.change(ctx, actor, viewer, func(credentials *identity.Credentials) error {
		switch has := func(other identity.Passkey) bool { return other.ID == passkey.ID }; {
		case slices.ContainsFunc(credentials.Passkeys, has):
			return identity.ErrPasskeyTaken
		case len(credentials.Passkeys) >= identity.MaxPasskeys:
			return errManyPasskeys
		}
		credentials.Passkeys = append(credentials.Passkeys, passkey)
		return nil
	})
}

// RemoveOwn takes a passkey from the viewer, if the viewer has it. It fails with token.ErrRejected unless the viewer
// has a session that was begun within the last hour, and with fault.Conflict when it is the viewer's last credential.
func (p *Passkeys) RemoveOwn(ctx context.Context, actor audit.Actor, id string) error {
	viewer, err := p.recentViewer(actor)
	if err != nil {
		return err
	}
	return p.change(ctx, actor, viewer, func(credentials *identity.Credentials) error {
		before := len(credentials.Passkeys)
		credentials.Passkeys = slices.DeleteFunc(credentials.Passkeys,
			func(other identity.Passkey) bool { return string(other.ID) == id })
		if len(credentials.Passkeys) == before {
			return nil
		}
		return p.checkUsable(*credentials)
	})
}

// beginAccount asks a browser for the first passkey of a user to come.
func (p *Passkeys) beginAccount(
	ctx context.Context, actor audit.Actor, purpose, name string, parse func(string) (user.Name, error),
	check func() error,
) (PasskeyCeremony, error) {
	if _, err := actor.Viewer(); err != nil {
		return PasskeyCeremony{}, err
	}
	if err := check(); err != nil {
		return PasskeyCeremony{}, err
	}
	userName, err := parse(name)
	if err != nil {
		return PasskeyCeremony{}, err
	}
	// Somebody can still take the name before this ends. This check keeps most devices from storing a useless passkey.
	_, err = p.users.ByName(ctx, userName)
	if !fault.Is(err, fault.NotFound) {
		return PasskeyCeremony{}, cmp.Or(err, error(user.ErrNameTaken))
	}
	ceremony := identity.Ceremony{Purpose: purpose, Owner: user.ID(ident.New()), Name: userName.String()}
	return p.begin(ctx, ceremony, userName.String(), nil)
}

// enroll makes the user of a ceremony.
func (p *Passkeys) enroll(
	ctx context.Context, actor audit.Actor, purpose string, admin bool, answer NewPasskey, admission identity.Admission,
) (user.User, error) {
	ceremony, err := p.take(ctx, purpose, answer.Secret)
	if err != nil {
		return user.User{}, err
	}
	passkey, err := p.finish(ceremony, answer)
	if err != nil {
		return user.User{}, err
	}
	name, err := user.ParseName(ceremony.Name)
	if err != nil {
		return user.User{}, err
	}
	newUser := user.User{ID: ceremony.Owner, Name: name, Admin: admin}
	return p.module.enroll(ctx, actor, newUser, identity.Credentials{Passkeys: []identity.Passkey{passkey}}, admission)
}

// BeginRegister asks a visitor's browser for the passkey of a new account. It fails as Join.Check does, and with
// fault.Invalid when the name breaks a rule.
func (p *Passkeys) BeginRegister(ctx context.Context, actor audit.Actor, code, name string) (PasskeyCeremony, error) {
	return p.beginAccount(ctx, actor, purposeJoin, name, parseChosenName, func() error {
		return (&Register{p.module}).Check(ctx, code)
	})
}

// Register makes the account that BeginJoin was about. It fails as Join.Do and Add do.
func (p *Passkeys) Register(ctx context.Context, actor audit.Actor, code string, answer NewPasskey) (user.User, error) {
	if _, err := actor.Viewer(); err != nil {
		return user.User{}, err
	}
	admission, err := (&Register{p.module}).admit(ctx, code)
	if err != nil {
		return user.User{}, err
	}
	return p.enroll(ctx, actor, purposeJoin, false, answer, admission)
}

// BeginSetUp asks the holder of a link for the passkey of the first administrator. It fails as SetUp.Show does, and
// with fault.Invalid when the name breaks a rule.
func (p *Passkeys) BeginSetUp(ctx context.Context, actor audit.Actor, code, name string) (PasskeyCeremony, error) {
	return p.beginAccount(ctx, actor, purposeSetUp, name, user.ParseName, func() error {
		return (&SetUp{p.module}).Show(ctx, code)
	})
}

// SetUp makes the first administrator. It fails as SetUp.Do and Add do.
func (p *Passkeys) SetUp(ctx context.Context, actor audit.Actor, code string, answer NewPasskey) (user.User, error) {
	if _, err := actor.Viewer(); err != nil {
		return user.User{}, err
	}
	use := &SetUp{p.module}
	if err := use.Show(ctx, code); err != nil {
		return user.User{}, err
	}
	admin, err := p.enroll(ctx, actor, purposeSetUp, true, answer, identity.Admission{Setup: identity.HashOf(code)})
	return use.announce(admin, err)
}

// BeginReset asks the holder of a link for another passkey of the link's owner. It fails as Reset.Show does.
func (p *Passkeys) BeginReset(ctx context.Context, actor audit.Actor, code string) (PasskeyCeremony, error) {
	if _, err := actor.Viewer(); err != nil {
		return PasskeyCeremony{}, err
	}
	owner, err := (&Reset{p.module}).Show(ctx, code)
	if err != nil {
		return PasskeyCeremony{}, err
	}
	return p.begin(ctx, identity.Ceremony{Purpose: purposeReset, Owner: owner.ID}, owner.Name.String(), nil)
}

// Reset gives the owner of a link a passkey beside those that there are, ends the owner's sessions, and returns the
// owner. It fails as Reset.Show and Add do.
func (p *Passkeys) Reset(ctx context.Context, actor audit.Actor, code string, answer NewPasskey) (user.User, error) {
	if _, err := actor.Viewer(); err != nil {
		return user.User{}, err
	}
	use := &Reset{p.module}
	owner, err := use.Show(ctx, code)
	if err != nil {
		return user.User{}, err
	}
	ceremony, err := p.take(ctx, purposeReset, answer.Secret)
	if err == nil && ceremony.Owner != owner.ID {
		err = errStaleCeremony
	}
	if err != nil {
		return user.User{}, err
	}
	passkey, err := p.finish(ceremony, answer)
	if err != nil {
		return user.User{}, err
	}
	return use.use(ctx, actor, code, owner, "user.add-passkey", func(credentials *identity.Credentials) error {
		if len(credentials.Passkeys) >= identity.MaxPasskeys { // the oldest is the likeliest to be lost
			credentials.Passkeys = credentials.Passkeys[1:]
		}
		credentials.Passkeys = append(credentials.Passkeys, passkey)
		return nil
	})
}
