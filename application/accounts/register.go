package accounts

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/notice"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

var (
	errRegistrationClosed = fault.New(fault.Forbidden,
		"This server does not accept new accounts. Ask its operator for one.")
	errNotInvited = fault.New(fault.Forbidden,
		"To get an account on this server, ask its operator for an invitation.")
)

// localSignIn reports whether users can have a password or a passkey here.
func (m *module) localSignIn() bool { return m.passwords != nil || m.passkeys != nil }

// Register makes accounts for visitors who choose a name, and a password or a passkey.
type Register struct{ *module }

// Open reports whether everyone may make an account with a password or a passkey.
func (j *Register) Open() bool { return j.localSignIn() && j.registration == Open }

// Check returns nil if a visitor with the code of an invitation, or "", may make an account with a password or a
// passkey. It fails with identity.ErrInvitation when the invitation is not valid, and with fault.Forbidden when new
// users are not taken.
func (j *Register) Check(ctx context.Context, code string) error {
	_, err := j.admit(ctx, code)
	return err
}

func (j *Register) admit(ctx context.Context, code string) (admission identity.Admission, err error) {
	admission.Chosen = true
	switch {
	case !j.localSignIn():
		return admission, identity.ErrNoPasswords
	case j.registration == Closed:
		return admission, errRegistrationClosed
	case j.registration == Open && code == "":
		return admission, nil
	case code == "":
		return admission, errNotInvited
	}
	invitation, err := (&Invitations{j.module}).Show(ctx, code)
	if j.registration != Open { // where it is not needed, none of its uses is taken
		admission.Invitation = invitation.ID
	}
	return admission, err
}

// Do returns the new user. It fails as May does, with fault.Invalid when the name or the password breaks a rule, and
// with fault.Conflict when the name is taken.
func (j *Register) Do(ctx context.Context, actor audit.Actor, code, name, password string) (user.User, error) {
	if _, err := actor.Viewer(); err != nil {
		return user.User{}, err
	}
	admission, err := j.admit(ctx, code)
	if err != nil {
		return user.User{}, err
	}
	userName, err := parseChosenName(name)
	if err != nil {
		return user.User{}, err
	}
	credentials, err := j.withPassword(ctx, userName, password)
	if err != nil {
		return user.User{}, err
	}
	return j.enroll(ctx, actor, user.User{Name: userName}, credentials, admission)
}

// withPassword returns the credentials of a new user who has that name and that password.
func (m *module) withPassword(ctx context.Context, name user.Name, password string) (identity.Credentials, error) {
	hash, err := (&Passwords{m}).Hash(ctx, name, password)
	return identity.Credentials{Password: hash}, err
}

// enroll stores a user with credentials. A user with a passkey already has an id, which the passkey contains.
func (m *module) enroll(
	ctx context.Context, actor audit.Actor, newUser user.User, credentials identity.Credentials,
	admission identity.Admission,
) (user.User, error) {
	newUser.DefaultLanguage, newUser.CreatedAt = user.DefaultLanguage, m.now()
	fixedID := newUser.ID
	err := ident.Draw(func(id user.ID) error {
		newUser.ID = cmp.Or(fixedID, id)
		var entry auditlog.Entry // none for a user without rights
		if newUser.Admin {
			itself := audit.By(token.Viewer{User: newUser}, actor.Address())
			entry = itself.OwnEntry("user.create-admin", newUser.NameAndID(), "")
		}
		return m.store.Enroll(ctx, actor.Address(), entry, newUser, credentials, admission)
	})
	if errors.Is(err, identity.ErrAdministratorExists) || errors.Is(err, identity.ErrPasskeyTaken) {
		return user.User{}, err
	}
	return newUser, fault.Replace(err, fault.Conflict, user.ErrNameTaken)
}

// SetUp makes the first administrator, who has a link that the server has printed.
type SetUp struct{ *module }

var errNoSetup = fault.New(fault.Forbidden,
	"This link is no longer valid: it was used, is older than a day, or the server has an administrator. Without one, "+
		"the server logs a new link when it starts.")

// Begin returns the code of a new link. It fails with fault.Forbidden unless the actor is the operator, with
// identity.ErrAdministratorExists when there is an administrator, and with identity.ErrNoPasswords when both passwords
// and passkeys are off.
func (s *SetUp) Begin(ctx context.Context, actor audit.Actor) (code string, err error) {
	if err := actor.CheckOperator(); err != nil {
		return "", err
	}
	if !s.localSignIn() {
		return "", identity.ErrNoPasswords
	}
	code = rand.Text()
	return code, s.store.StoreLink(ctx, auditlog.Entry{}, identity.OneTimeLink{
		Hash: identity.HashOf(code), ExpiresAt: s.now().Add(identity.SetupAge),
	})
}

// Show returns nil if the link with that code is valid, which it does not use. It fails with fault.Forbidden.
func (s *SetUp) Show(ctx context.Context, code string) error {
	link, err := s.store.LinkByHash(ctx, identity.HashOf(code))
	if fault.Is(err, fault.NotFound) || err == nil && link.Owner != "" || !s.localSignIn() {
		return errNoSetup
	}
	return err
}

// Do returns the new administrator. It fails as Show does, with fault.Invalid when the name or the password breaks a
// rule, and with fault.Conflict when the name is taken.
func (s *SetUp) Do(ctx context.Context, actor audit.Actor, code, name, password string) (user.User, error) {
	if _, err := actor.Viewer(); err != nil {
		return user.User{}, err
	}
	if err := s.Show(ctx, code); err != nil {
		return user.User{}, err
	}
	userName, err := user.ParseName(name)
	if err != nil {
		return user.User{}, err
	}
	credentials, err := s.withPassword(ctx, userName, password)
	if err != nil {
		return user.User{}, err
	}
	admission := identity.Admission{Setup: identity.HashOf(code)}
	return s.announce(s.enroll(ctx, actor, user.User{Name: userName, Admin: true}, credentials, admission))
}

// announce notifies the operator of a new administrator.
func (s *SetUp) announce(admin user.User, err error) (user.User, error) {
	if fault.Is(err, fault.NotFound) || errors.Is(err, identity.ErrAdministratorExists) {
		return user.User{}, errNoSetup
	}
	if err == nil {
		s.notify.Tell(notice.Administrator(admin, s.now()))
	}
	return admin, err
}

// Reset lets users who cannot sign in choose a new password or passkey, with a link that an operator gives them.
type Reset struct{ *module }

var errNoReset = fault.New(fault.Forbidden,
	"This link is no longer valid: it was used, or is older than an hour. Ask the operator for a new one.")

// Offer returns a user, found by name or id, and the code of a new link. It fails as user.Find does, with
// identity.ErrNoPasswords, and with fault.Forbidden unless the actor is the operator or an administrator.
func (r *Reset) Offer(ctx context.Context, actor audit.Actor, reference string) (
	owner user.User, link identity.OneTimeLink, code string, err error,
) {
	if err := actor.CheckAdministratorWrite(); err != nil {
		return owner, link, "", err
	}
	if !r.localSignIn() {
		return owner, link, "", identity.ErrNoPasswords
	}
	if owner, err = user.Find(ctx, r.users, reference); err != nil {
		return owner, link, "", err
	}
	code = rand.Text()
	link = identity.OneTimeLink{Hash: identity.HashOf(code), Owner: owner.ID, ExpiresAt: r.now().Add(identity.ResetAge)}
	err = r.store.StoreLink(ctx, actor.Entry("user.reset", owner.NameAndID(), ""), link)
	return owner, link, code, user.ReplaceNotFound(err)
}

// Show returns whose password the link with that code is for, and does not use it. It fails with fault.Forbidden when
// it is not valid, and with token.ErrSuspended.
func (r *Reset) Show(ctx context.Context, code string) (user.User, error) {
	link, err := r.store.LinkByHash(ctx, identity.HashOf(code))
	if fault.Is(err, fault.NotFound) || err == nil && link.Owner == "" || !r.localSignIn() {
		return user.User{}, errNoReset
	}
	if err != nil {
		return user.User{}, err
	}
	owner, err := r.users.ByID(ctx, link.Owner)
	if err == nil && owner.Suspended {
		return user.User{}, token.ErrSuspended
	}
	return owner, fault.Replace(err, fault.NotFound, errNoReset)
}

// Do gives the owner of the link with that code a password, ends the owner's sessions, and returns the owner. It fails
// as Show and Passwords.Hash do.
func (r *Reset) Do(ctx context.Context, actor audit.Actor, code, password string) (user.User, error) {
	if _, err := actor.Viewer(); err != nil {
		return user.User{}, err
	}
	owner, err := r.Show(ctx, code)
	if err != nil {
		return user.User{}, err
	}
	hash, err := (&Passwords{r.module}).Hash(ctx, owner.Name, password)
	if err != nil {
		return user.User{}, err
	}
	return r.use(ctx, actor, code, owner, "user.set-password", func(credentials *identity.Credentials) error {
		credentials.Password = hash
		return nil
	})
}

// use changes the credentials of the owner of the link with that code, and uses the link up.
func (r *Reset) use(
	ctx context.Context, actor audit.Actor, code string, owner user.User, act string,
	change func(*identity.Credentials) error,
) (user.User, error) {
	holder := audit.By(token.Viewer{User: owner}, actor.Address())
	entry := holder.OwnEntry(act, owner.NameAndID(), "with a link for it")
	store := func(u user.User, credentials *identity.Credentials) error {
		if u.Suspended {
			return token.ErrSuspended
		}
		return change(credentials)
	}
	owner, err := r.store.UseLink(ctx, actor.Address(), entry, identity.HashOf(code), store)
	return owner, fault.Replace(err, fault.NotFound, errNoReset)
}
