package fake

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/user"
)

// ceremony is a ceremony with its end.
type ceremony struct {
	identity.Ceremony

	ends time.Time
}

// StoreCeremony implements identity.Store.
func (i Identities) StoreCeremony(ctx context.Context, hash identity.Hash, created identity.Ceremony,
	others int) error {
	unlock, err := i.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if i.ceremonies == nil {
		i.ceremonies = make(map[identity.Hash]ceremony)
	}
	for len(i.ceremonies) > others {
		delete(i.ceremonies, slices.MinFunc(slices.Collect(maps.Keys(i.ceremonies)), func(a, b identity.Hash) int {
			return i.ceremonies[a].ends.Compare(i.ceremonies[b].ends)
		}))
	}
	i.ceremonies[hash] = ceremony{created, i.now().Add(identity.CeremonyAge)}
	return nil
}

// TakeCeremony implements identity.Store.
func (i Identities) TakeCeremony(ctx context.Context, hash identity.Hash) (identity.Ceremony, error) {
	unlock, err := i.lock(ctx)
	if err != nil {
		return identity.Ceremony{}, err
	}
	defer unlock()
	stored, ok := i.ceremonies[hash]
	delete(i.ceremonies, hash)
	if !ok || !i.now().Before(stored.ends) {
		return identity.Ceremony{}, errNotFound
	}
	return stored.Ceremony, nil
}

// passkey returns the owner of a passkey, and its index among the owner's passkeys, or -1.
func (s *Store) passkey(id identity.PasskeyID) (owner user.ID, at int) {
	for owner, passkeys := range s.passkeys {
		at := slices.IndexFunc(passkeys, func(p identity.Passkey) bool { return p.ID == id })
		if at >= 0 && s.exists(owner) {
			return owner, at
		}
	}
	return "", -1
}

// setPasskeys replaces a user's passkeys.
func (s *Store) setPasskeys(owner user.ID, passkeys []identity.Passkey) error {
	passkeys = slices.Clone(passkeys)
	for i := range passkeys {
		if holder, at := s.passkey(passkeys[i].ID); at >= 0 && holder != owner {
			return identity.ErrPasskeyTaken
		}
		passkeys[i].CreatedAt = passkeys[i].CreatedAt.UTC()
	}
	if s.passkeys == nil {
		s.passkeys = make(map[user.ID][]identity.Passkey)
	}
	s.passkeys[owner] = passkeys
	return nil
}

// PasskeyByID implements identity.Store.
func (i Identities) PasskeyByID(ctx context.Context, id identity.PasskeyID) (identity.Passkey, user.User, error) {
	unlock, err := i.lock(ctx)
	if err != nil {
		return identity.Passkey{}, user.User{}, err
	}
	defer unlock()
	holder, at := i.passkey(id)
	if at < 0 {
		return identity.Passkey{}, user.User{}, errNotFound
	}
	owner, _ := i.byID(holder)
	return i.passkeys[holder][at], owner, nil
}

// UsePasskey implements identity.Store.
func (i Identities) UsePasskey(
	ctx context.Context, _ netip.Addr, id identity.PasskeyID, counter uint32, when time.Time,
) error {
	unlock, err := i.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	holder, at := i.passkey(id)
	if at < 0 {
		return errNotFound
	}
	passkey := &i.passkeys[holder][at]
	if (passkey.Counter > 0 || counter > 0) && counter <= passkey.Counter {
		return identity.ErrCloned
	}
	passkey.Counter, passkey.LastUsedAt = counter, when.UTC()
	return nil
}
