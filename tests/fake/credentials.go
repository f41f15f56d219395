package fake

import (
	"context"
	"net/netip"
	"slices"

	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// CredentialsOf implements identity.Store.
func (i Identities) CredentialsOf(ctx context.Context, owner user.ID) (identity.Credentials, error) {
	unlock, err := i.lock(ctx)
	if err != nil {
		return identity.Credentials{}, err
	}
	defer unlock()
	if !i.exists(owner) {
		return identity.Credentials{}, errNotFound
	}
	return i.credentials(owner), nil
}

func (s *Store) credentials(owner user.ID) identity.Credentials {
	return identity.Credentials{
		Password: s.passwords[owner], Identities: s.services[owner], Passkeys: s.passkeys[owner],
	}.Clone()
}

// ByPassword implements identity.Store.
func (i Identities) ByPassword(ctx context.Context, name user.Name) (user.User, identity.PasswordHash, error) {
	owner, err := Users(i).ByName(ctx, name)
	if err != nil {
		return user.User{}, "", err
	}
	credentials, err := i.CredentialsOf(ctx, owner.ID)
	return owner, credentials.Password, err
}

// ChangeCredentials implements identity.Store.
func (i Identities) ChangeCredentials(
	ctx context.Context, _ netip.Addr, owner user.ID, but token.ID, change func(user.User, *identity.Credentials) error,
) error {
	unlock, err := i.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	changed, err := i.changeCredentials(owner, change)
	if changed {
		Tokens(i).end(func(k token.Token) bool { return k.Owner == owner && k.ID != but })
	}
	return err
}

func (s *Store) changeCredentials(
	owner user.ID, change func(user.User, *identity.Credentials) error,
) (changed bool, err error) {
	account, ok := s.byID(owner)
	if !ok {
		return false, errNotFound
	}
	credentials := s.credentials(owner)
	if err := change(account, &credentials); err != nil {
		return false, err
	}
	if s.servicesTaken(owner, credentials.Identities) {
		return false, user.ErrIdentityTaken
	}
	if err := s.setPasskeys(owner, credentials.Passkeys); err != nil {
		return false, err
	}
	s.remember(account, account, credentials.Identities)
	s.services[owner] = credentials.Identities
	changed = s.passwords[owner] != credentials.Password
	s.setPassword(owner, credentials.Password)
	return changed, nil
}

func (s *Store) setPassword(owner user.ID, hash identity.PasswordHash) {
	if s.passwords == nil {
		s.passwords = make(map[user.ID]identity.PasswordHash)
	}
	if s.passwords[owner] = hash; hash == "" {
		delete(s.passwords, owner)
	}
}

// Rehash implements identity.Store.
func (i Identities) Rehash(ctx context.Context, owner user.ID, from, to identity.PasswordHash) error {
	unlock, err := i.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if from != "" && i.passwords[owner] == from {
		i.passwords[owner] = to
	}
	return nil
}

func (s *Store) hasAdministrator() bool {
	return slices.ContainsFunc(s.users, func(u user.User) bool { return u.Admin })
}

// endLinks deletes the one-time links of an owner, or those for the first administrator if owner is "".
func (s *Store) endLinks(owner user.ID) {
	s.links = slices.DeleteFunc(s.links, func(l identity.OneTimeLink) bool { return l.Owner == owner })
}

func (s *Store) endSetup(ends bool) {
	if ends {
		s.endLinks("")
	}
}

// StoreLink implements identity.Store.
func (i Identities) StoreLink(ctx context.Context, _ auditlog.Entry, link identity.OneTimeLink) error {
	unlock, err := i.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	switch {
	case link.Owner == "" && i.hasAdministrator():
		return identity.ErrAdministratorExists
	case link.Owner != "" && !i.exists(link.Owner):
		return errNotFound
	}
	link.ExpiresAt = link.ExpiresAt.UTC()
	i.links = append(i.links, link)
	return nil
}

func (s *Store) link(hash identity.Hash) (identity.OneTimeLink, error) {
	at := slices.IndexFunc(s.links, func(l identity.OneTimeLink) bool {
		return l.Hash == hash && s.now().Before(l.ExpiresAt)
	})
	if at < 0 {
		return identity.OneTimeLink{}, errNotFound
	}
	return s.links[at], nil
}

// LinkByHash implements identity.Store.
func (i Identities) LinkByHash(ctx context.Context, hash identity.Hash) (identity.OneTimeLink, error) {
	unlock, err := i.lock(ctx)
	if err != nil {
		return identity.OneTimeLink{}, err
	}
	defer unlock()
	return i.link(hash)
}

// UseLink implements identity.Store.
func (i Identities) UseLink(
	ctx context.Context, _ netip.Addr, _ auditlog.Entry, hash identity.Hash, change func(user.User,
		*identity.Credentials) error,
) (user.User, error) {
	unlock, err := i.lock(ctx)
	if err != nil {
		return user.User{}, err
	}
	defer unlock()
	link, err := i.link(hash)
	if err != nil || link.Owner == "" {
		return user.User{}, errNotFound
	}
	if _, err := i.changeCredentials(link.Owner, change); err != nil {
		return user.User{}, err
	}
	i.endLinks(link.Owner)
	Tokens(i).end(func(k token.Token) bool { return k.Owner == link.Owner })
	owner, _ := i.byID(link.Owner)
	return owner, nil
}

// isReserved reports whether a name is reserved because its user gave it up recently.
func (s *Store) isReserved(name user.Name) bool {
	former, ok := s.former[name.Folded()]
	return ok && s.now().Sub(former.at) < user.NameReserved
}

// Enroll implements identity.Store.
func (i Identities) Enroll(
	ctx context.Context, _ netip.Addr, _ auditlog.Entry, created user.User, credentials identity.Credentials,
	why identity.Admission,
) error {
	unlock, err := i.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if why.Setup != (identity.Hash{}) {
		if i.hasAdministrator() {
			return identity.ErrAdministratorExists
		}
		if link, err := i.link(why.Setup); err != nil || link.Owner != "" {
			return errNotFound
		}
	}
	at := slices.IndexFunc(i.invitations, func(other identity.Invitation) bool { return other.ID == why.Invitation })
	if why.Invitation != "" && (at < 0 || !i.invitations[at].ValidAt(i.now())) {
		return identity.ErrInvitation
	}
	if why.Chosen && i.isReserved(created.Name) {
		return errConflict
	}
	for _, passkey := range credentials.Passkeys {
		if _, at := i.passkey(passkey.ID); at >= 0 {
			return identity.ErrPasskeyTaken
		}
	}
	if err := i.createUser(created, credentials.Identities); err != nil {
		return err
	}
	if err := i.setPasskeys(created.ID, credentials.Passkeys); err != nil {
		return err
	}
	if at >= 0 {
		i.invitations[at].Uses--
	}
	i.setPassword(created.ID, credentials.Password)
	i.endSetup(created.Admin)
	return nil
}

var guessQuota = paste.Quota{Pastes: identity.Guesses, Window: identity.GuessWindow}

// TakeGuess implements identity.Store.
func (i Identities) TakeGuess(ctx context.Context, _ netip.Addr, name string) error {
	unlock, err := i.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	_, err = i.take(paste.Client("password of "+name), guessQuota)
	return fault.Replace(err, fault.Exhausted, identity.ErrTooManyGuesses)
}

// ReturnGuess implements identity.Store.
func (i Identities) ReturnGuess(ctx context.Context, name string) error {
	unlock, err := i.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	client := paste.Client("password of " + name)
	if full := i.quotas[client].Sub(i.now()); full > 0 {
		i.quotas[client] = i.now().Add(max(full-guessQuota.Interval(), 0))
	}
	return nil
}
