// Package fake keeps everything in maps, for tests of what stands above the store. The contract suites run
// over it, so that it cannot promise what a database does not.
package fake

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// Store is an empty store as it is made by new.
type Store struct {
	mu       sync.Mutex
	users    []user.User
	services map[user.ID]map[string]string
	stars    map[user.ID][]string
	tokens   []token.Token
	pastes   []paste.Paste
}

// The parts of a Store are types of their own, because their ports have methods of the same names.
type (
	// Users keeps users.
	Users struct{ *Store }
	// Tokens keeps access tokens.
	Tokens struct{ *Store }
	// Pastes keeps pastes and stars.
	Pastes struct{ *Store }
)

var (
	errNotFound = fault.New(fault.NotFound, "There is none.")
	errConflict = fault.New(fault.Conflict, "It exists.")
)

// lock fails as a store does whose caller has gone.
func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	if ctx.Err() != nil {
		return nil, fault.Wrap(fault.Unavailable, "gone", ctx.Err())
	}
	s.mu.Lock()
	return s.mu.Unlock, nil
}

func (s *Store) exists(id user.ID) bool {
	return slices.ContainsFunc(s.users, func(u user.User) bool { return u.ID == id })
}

// ByName implements user.Finder.
func (u Users) ByName(ctx context.Context, name user.Name) (user.User, error) {
	unlock, err := u.lock(ctx)
	if err != nil {
		return user.User{}, err
	}
	defer unlock()
	for _, known := range u.users {
		if known.Name.Folded() == name.Folded() {
			return known, nil
		}
	}
	return user.User{}, errNotFound
}

// Create implements user.Creator.
func (u Users) Create(ctx context.Context, created user.User, services map[string]string) error {
	unlock, err := u.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	for _, known := range u.users {
		if known.ID == created.ID || known.Name.Folded() == created.Name.Folded() {
			return errConflict
		}
	}
	if u.services == nil {
		u.services, u.stars = make(map[user.ID]map[string]string), make(map[user.ID][]string)
	}
	created.CreatedAt = created.CreatedAt.UTC()
	u.users = append(u.users, created)
	u.services[created.ID] = maps.Clone(services)
	return nil
}

// ByHash implements token.Finder.
func (t Tokens) ByHash(ctx context.Context, hash token.Hash) (token.Token, error) {
	unlock, err := t.lock(ctx)
	if err != nil {
		return token.Token{}, err
	}
	defer unlock()
	for _, known := range t.tokens {
		if known.Hash == hash {
			return known, nil
		}
	}
	return token.Token{}, errNotFound
}

// AccountByHash implements token.AccountFinder.
func (t Tokens) AccountByHash(ctx context.Context, hash token.Hash, now time.Time) (token.Token, user.Account, error) {
	found, err := t.ByHash(ctx, hash)
	if err != nil {
		return token.Token{}, user.Account{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	account := user.Account{Stars: []string{}, Services: map[string]string{}}
	for _, known := range t.users {
		if known.ID == found.Owner {
			account.User = known
		}
	}
	maps.Copy(account.Services, t.services[found.Owner])
	for _, star := range t.stars[found.Owner] {
		if slices.ContainsFunc(t.pastes, func(p paste.Paste) bool { return string(p.ID) == star && p.ActiveAt(now) }) {
			account.Stars = append(account.Stars, star)
		}
	}
	return found, account, nil
}

// Create implements token.Creator.
func (t Tokens) Create(ctx context.Context, created token.Token) error {
	unlock, err := t.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	for _, known := range t.tokens {
		if known.ID == created.ID || known.Hash == created.Hash {
			return errConflict
		}
	}
	if !t.exists(created.Owner) {
		return errNotFound
	}
	for _, at := range []*time.Time{&created.CreatedAt, &created.ExpiresAt, &created.LastUsedAt, &created.RevokedAt} {
		*at = at.UTC()
	}
	t.tokens = append(t.tokens, created)
	return nil
}

// SetLastUsed implements token.UseWriter.
func (t Tokens) SetLastUsed(ctx context.Context, uses map[token.ID]time.Time) error {
	unlock, err := t.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	for i, known := range t.tokens {
		if at, ok := uses[known.ID]; ok && at.After(known.LastUsedAt) {
			t.tokens[i].LastUsedAt = at.UTC()
		}
	}
	return nil
}

// ActiveCount implements paste.Counter.
func (p Pastes) ActiveCount(ctx context.Context, now time.Time) (count int64, err error) {
	unlock, err := p.lock(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	for _, known := range p.pastes {
		if known.ActiveAt(now) {
			count++
		}
	}
	return count, nil
}

// EachActiveID implements paste.OwnerLister.
func (p Pastes) EachActiveID(ctx context.Context, owner user.ID, now time.Time, visit func([]byte) error) error {
	unlock, err := p.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	newestFirst := slices.SortedFunc(slices.Values(p.pastes), func(a, b paste.Paste) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	for _, known := range newestFirst {
		if known.Owner == owner && known.ActiveAt(now) {
			if err := visit([]byte(known.ID)); err != nil {
				return err
			}
		}
	}
	return nil
}

// RemoveExpired implements paste.ExpiredRemover.
func (p Pastes) RemoveExpired(ctx context.Context, now time.Time, limit int) (removed int, err error) {
	unlock, err := p.lock(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	p.pastes = slices.DeleteFunc(p.pastes, func(known paste.Paste) bool {
		if known.ActiveAt(now) || removed == limit {
			return false
		}
		removed++
		return true
	})
	return removed, nil
}

// Create implements paste.Creator.
func (p Pastes) Create(ctx context.Context, created paste.Paste) error {
	unlock, err := p.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if slices.ContainsFunc(p.pastes, func(known paste.Paste) bool { return known.ID == created.ID }) {
		return errConflict
	}
	if created.Owner != "" && !p.exists(created.Owner) {
		return errNotFound
	}
	p.pastes = append(p.pastes, created)
	return nil
}

// Star implements paste.Starrer.
func (p Pastes) Star(ctx context.Context, starrer user.ID, id paste.ID) error {
	unlock, err := p.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if !p.exists(starrer) {
		return errNotFound
	}
	if !slices.Contains(p.stars[starrer], string(id)) {
		p.stars[starrer] = append(p.stars[starrer], string(id))
	}
	return nil
}
