package accounts

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"time"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// Passwords are how users sign in with passwords, and choose them.
type Passwords struct{ *module }

// On reports whether this installation takes passwords.
func (p *Passwords) On() bool { return p.passwords != nil }

// Hash returns the hash of a new password for the user of that name. It fails with fault.Invalid when the password
// breaks a rule (identity.CheckPassword), or passwords are off.
func (p *Passwords) Hash(ctx context.Context, name user.Name, password string) (identity.PasswordHash, error) {
	if !p.On() {
		return "", identity.ErrNoPasswords
	}
	leave, err := p.passwords.Enter()
	if err != nil {
		return "", err
	}
	defer leave()
	normal, err := p.normal(password)
	if err != nil {
		return "", err
	}
	err = identity.CheckPassword(normal, name, func() (int, error) { return p.passwords.Score(ctx, normal, name) })
	if err != nil {
		return "", err
	}
	return p.passwords.Hash(ctx, normal)
}

var errLong = fault.New(fault.Invalid, "The password is much longer than 256 characters. Choose a shorter one.")

func (m *module) normal(password string) (string, error) {
	if len(password) > identity.MaxPasswordBytes {
		return "", errLong
	}
	return m.passwords.Normal(password), nil
}

// check reports whether a password that comes from an address is that of the user of that name. It counts wrong ones,
// whether or not there is such a user, and takes as long for each. It fails with identity.ErrWrongPassword, and with
// identity.ErrTooManyGuesses.
func (m *module) check(ctx context.Context, from netip.Addr, name, password string) (
	owner user.User, hash identity.PasswordHash, err error,
) {
	if m.passwords == nil {
		return owner, "", identity.ErrNoPasswords
	}
	leave, err := m.passwords.Enter()
	if err != nil {
		return owner, "", err
	}
	defer leave()
	normal, err := m.normal(password)
	if err != nil {
		return owner, "", identity.ErrWrongPassword
	}
	folded := strings.ToLower(name)
	if err := m.store.TakeGuess(ctx, from, folded); err != nil {
		return owner, "", err
	}
	userName, err := user.ParseName(name)
	if err == nil {
		owner, hash, err = m.store.ByPassword(ctx, userName)
	}
	if err != nil && !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Invalid) {
		return owner, "", err
	}
	matches, outdated, err := m.passwords.Matches(ctx, normal, hash)
	if err != nil { // nothing was guessed
		ctx, cancel := afterwards(ctx)
		defer cancel()
		return owner, "", errors.Join(err, m.store.ReturnGuess(ctx, folded))
	}
	if !matches {
		return owner, "", identity.ErrWrongPassword
	}
	if err := m.store.ReturnGuess(ctx, folded); err != nil {
		return owner, "", err
	}
	if outdated {
		newHash, err := m.passwords.Hash(ctx, normal)
		if err == nil {
			err = m.store.Rehash(ctx, owner.ID, hash, newHash)
		}
		if err != nil {
			return owner, "", err
		}
		hash = newHash
	}
	return owner, hash, nil
}

// undoTime is how long a request that has ended may take to undo what it has stored.
const undoTime = 2 * time.Second

// afterwards returns the context for undoing what a request has stored, which may have ended.
func afterwards(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), undoTime)
}

// SignIn signs in with the name and password of a user. start begins a session, and returns what ends it.
//
// It fails with identity.ErrWrongPassword, with identity.ErrTooManyGuesses when there were too many wrong passwords for
// the name, with token.ErrSuspended when the password is right and its user is suspended, and as start does.
func (p *Passwords) SignIn(
	ctx context.Context, actor audit.Actor, name, password string,
	start func(owner user.ID) (end func(context.Context) error, err error),
) error {
	if _, err := actor.Viewer(); err != nil {
		return err
	}
	owner, hash, err := p.check(ctx, actor.Address(), name, password)
	if err != nil {
		return err
	}
	if owner.Suspended {
		return token.ErrSuspended
	}
	end, err := start(owner.ID)
	if err != nil {
		return err
	}
	// A change of the password ends the sessions that there are. This one may have begun right after.
	err = p.checkUnchanged(ctx, owner.ID, password, hash)
	if err != nil {
		ctx, cancel := afterwards(ctx)
		defer cancel()
		_ = end(ctx) // the session's secret is not sent
		return fault.Replace(err, fault.NotFound, identity.ErrWrongPassword)
	}
	return nil
}

// checkUnchanged fails with identity.ErrWrongPassword unless a password, whose hash was that one, is the user's now.
func (m *module) checkUnchanged(ctx context.Context, owner user.ID, password string, hash identity.PasswordHash) error {
	now, err := m.store.CredentialsOf(ctx, owner)
	if err != nil || now.Password == hash {
		return err
	}
	matches, _, err := m.passwords.Matches(ctx, m.passwords.Normal(password), now.Password) // it may have a new hash alone
	if err == nil && !matches {
		err = identity.ErrWrongPassword
	}
	return err
}

// mayChange returns a viewer who has begun a session within the last hour, or who types the present password.
func (p *Passwords) mayChange(ctx context.Context, actor audit.Actor, current string) (token.Viewer, error) {
	viewer, err := actor.User()
	if err != nil {
		return viewer, err
	}
	if current == "" {
		if !viewer.SignedInRecently(p.now()) {
			err = token.ErrRejected
		}
		return viewer, err
	}
	owner, _, err := p.check(ctx, actor.Address(), viewer.User.Name.String(), current)
	if err == nil && owner.ID != viewer.User.ID { // the user has been renamed
		err = identity.ErrCurrentPassword
	}
	return viewer, fault.Replace(err, fault.Unauthenticated, identity.ErrCurrentPassword)
}

// SetOwn gives the viewer a password in place of the present one, if there is one, and ends the viewer's other
// sessions.
//
// It fails with token.ErrRejected when the viewer has neither typed the present password nor begun a session within the
// last hour, with identity.ErrCurrentPassword or identity.ErrTooManyGuesses, and as Hash does.
func (p *Passwords) SetOwn(ctx context.Context, actor audit.Actor, current, password string) error {
	viewer, err := p.mayChange(ctx, actor, current)
	if err != nil {
		return err
	}
	hash, err := p.Hash(ctx, viewer.User.Name, password)
	if err != nil {
		return err
	}
	return p.change(ctx, actor, viewer, func(credentials *identity.Credentials) error {
		credentials.Password = hash
		return nil
	})
}

// RemoveOwn takes the viewer's password away, and ends the viewer's other sessions. It fails as SetOwn does, and with
// fault.Conflict when it is the viewer's last credential.
func (p *Passwords) RemoveOwn(ctx context.Context, actor audit.Actor, current string) error {
	viewer, err := p.mayChange(ctx, actor, current)
	if err != nil {
		return err
	}
	return p.change(ctx, actor, viewer, func(credentials *identity.Credentials) error {
		credentials.Password = ""
		return p.checkUsable(*credentials)
	})
}

// change changes the viewer's credentials, and ends the viewer's other sessions if the password has changed.
func (m *module) change(
	ctx context.Context, actor audit.Actor, viewer token.Viewer, change func(*identity.Credentials) error,
) error {
	store := func(u user.User, credentials *identity.Credentials) error {
		if u.Suspended { // since the request began
			return token.ErrSuspended
		}
		return change(credentials)
	}
	err := m.store.ChangeCredentials(ctx, actor.Address(), viewer.User.ID, viewer.Token.ID, store)
	return fault.Replace(err, fault.NotFound, token.ErrRejected)
}

var errLast = fault.New(fault.Conflict, "This is your last way to sign in. Add another one first.")

// checkUsable returns errLast unless one of the credentials works on this server.
func (m *module) checkUsable(credentials identity.Credentials) error {
	if m.passwords != nil && credentials.Password != "" || m.passkeys != nil && len(credentials.Passkeys) > 0 {
		return nil
	}
	for _, source := range m.sources {
		if credentials.Identities[source.Key] != "" {
			return nil
		}
	}
	return errLast
}

// Credentials shows how users can sign in.
type Credentials struct{ *module }

// Own returns the viewer's credentials. It fails with token.ErrRejected unless the viewer has signed in.
func (w *Credentials) Own(ctx context.Context, viewer token.Viewer) (identity.Credentials, error) {
	if !viewer.SignedIn() {
		return identity.Credentials{}, token.ErrRejected
	}
	credentials, err := w.store.CredentialsOf(ctx, viewer.User.ID)
	return credentials, fault.Replace(err, fault.NotFound, token.ErrRejected)
}
