package fake

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/user"
)

// Identities keeps credentials, attempts, ceremonies, links and invitations.
type Identities struct{ *Store }

type attempt struct {
	identity.Attempt

	ends time.Time
}

// holder returns the user who has an identity.
func (s *Store) holder(key, subject string) (user.ID, bool) {
	for id, services := range s.services {
		if linked, ok := services[key]; ok && linked == subject {
			return id, true
		}
	}
	return "", false
}

// servicesTaken reports whether another user has one of the services.
func (s *Store) servicesTaken(id user.ID, services map[string]string) bool {
	for key, subject := range services {
		if holder, ok := s.holder(key, subject); ok && holder != id {
			return true
		}
	}
	return false
}

// ByIdentity implements identity.Store.
func (i Identities) ByIdentity(ctx context.Context, want identity.Identity) (user.User, error) {
	unlock, err := i.lock(ctx)
	if err != nil {
		return user.User{}, err
	}
	defer unlock()
	id, ok := i.holder(want.Key, want.Subject)
	if !ok {
		return user.User{}, errNotFound
	}
	owner, _ := i.byID(id)
	return owner, nil
}

// StoreAttempt implements identity.Store.
func (i Identities) StoreAttempt(ctx context.Context, _ netip.Addr, hash identity.Hash,
	created identity.Attempt, others int) error {
	unlock, err := i.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if i.attempts == nil {
		i.attempts = make(map[identity.Hash]attempt)
	}
	for len(i.attempts) > others {
		delete(i.attempts, slices.MinFunc(slices.Collect(maps.Keys(i.attempts)), func(a, b identity.Hash) int {
			return i.attempts[a].ends.Compare(i.attempts[b].ends)
		}))
	}
	i.attempts[hash] = attempt{created, i.now().Add(identity.AttemptAge)}
	return nil
}

func (s *Store) attempt(hash identity.Hash) (identity.Attempt, error) {
	stored, ok := s.attempts[hash]
	if !ok || !s.now().Before(stored.ends) {
		return identity.Attempt{}, errNotFound
	}
	return stored.Attempt, nil
}

// TakeAttempt implements identity.Store.
func (i Identities) TakeAttempt(ctx context.Context, _ netip.Addr, hash identity.Hash) (identity.Attempt, error) {
	unlock, err := i.lock(ctx)
	if err != nil {
		return identity.Attempt{}, err
	}
	defer unlock()
	result, err := i.attempt(hash)
	delete(i.attempts, hash)
	return result, err
}

// Attempt implements identity.Store.
func (i Identities) Attempt(ctx context.Context, hash identity.Hash) (identity.Attempt, error) {
	unlock, err := i.lock(ctx)
	if err != nil {
		return identity.Attempt{}, err
	}
	defer unlock()
	return i.attempt(hash)
}

// SignUp implements identity.Store.
func (i Identities) SignUp(ctx context.Context, _ netip.Addr, hash identity.Hash, created user.User) error {
	unlock, err := i.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	signIn, err := i.attempt(hash)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(i.invitations, func(other identity.Invitation) bool { return other.ID == signIn.Invitation })
	if signIn.Invitation != "" && (at < 0 || !i.invitations[at].ValidAt(i.now())) {
		return identity.ErrInvitation
	}
	if i.isReserved(created.Name) {
		return errConflict
	}
	if err := i.createUser(created, map[string]string{signIn.Profile.Key: signIn.Profile.Subject}); err != nil {
		return err
	}
	if at >= 0 {
		i.invitations[at].Uses--
	}
	delete(i.attempts, hash)
	return nil
}

// StoreInvitation implements identity.Store.
func (i Identities) StoreInvitation(ctx context.Context, _ auditlog.Entry, created identity.Invitation) error {
	unlock, err := i.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	for _, other := range i.invitations {
		if other.ID == created.ID {
			return errIDTaken
		}
		if other.Hash == created.Hash {
			return errConflict
		}
	}
	created.CreatedAt, created.ExpiresAt = created.CreatedAt.UTC(), created.ExpiresAt.UTC()
	i.invitations = append(i.invitations, created)
	return nil
}

// InvitationByHash implements identity.Store.
func (i Identities) InvitationByHash(ctx context.Context, hash identity.Hash) (identity.Invitation, error) {
	all, err := i.Invitations(ctx)
	if err != nil {
		return identity.Invitation{}, err
	}
	at := slices.IndexFunc(all, func(invitation identity.Invitation) bool { return invitation.Hash == hash })
	if at < 0 {
		return identity.Invitation{}, errNotFound
	}
	return all[at], nil
}

// Invitations implements identity.Store.
func (i Identities) Invitations(ctx context.Context) ([]identity.Invitation, error) {
	unlock, err := i.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return append([]identity.Invitation{}, i.invitations...), nil
}

// RemoveInvitation implements identity.Store.
func (i Identities) RemoveInvitation(ctx context.Context, _ auditlog.Entry, id identity.InvitationID) error {
	unlock, err := i.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	before := len(i.invitations)
	i.invitations = slices.DeleteFunc(i.invitations,
		func(invitation identity.Invitation) bool { return invitation.ID == id })
	if len(i.invitations) == before {
		return errNotFound
	}
	return nil
}
