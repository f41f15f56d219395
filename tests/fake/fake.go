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
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/stats"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// Store is an empty store as it is made by new.
type Store struct {
	// Now is the clock by which pastes are judged. Default: time.Now.
	Now func() time.Time

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
	// Stats counts everything.
	Stats struct{ *Store }
)

var (
	errNotFound = fault.New(fault.NotFound, "There is none.")
	errConflict = fault.New(fault.Conflict, "It exists.")
	errIDTaken  = fault.Wrap(fault.Conflict, "It exists.", ident.ErrTaken)
)

// lock fails as a store does whose caller has gone.
func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	if ctx.Err() != nil {
		return nil, fault.Wrap(fault.Unavailable, "gone", ctx.Err())
	}
	s.mu.Lock()
	return s.mu.Unlock, nil
}

func (s *Store) active(p paste.Paste) bool { return p.ActiveAt(s.now()) }

func (s *Store) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
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
	if i := u.index(name); i >= 0 {
		return u.users[i], nil
	}
	return user.User{}, errNotFound
}

func (s *Store) index(name user.Name) int {
	return slices.IndexFunc(s.users, func(known user.User) bool { return known.Name.Folded() == name.Folded() })
}

// StaleByName implements user.StaleFinder.
func (u Users) StaleByName(ctx context.Context, name user.Name) (user.User, error) {
	return u.ByName(ctx, name)
}

// WithServices implements user.ServiceFinder.
func (u Users) WithServices(ctx context.Context, name user.Name) (user.User, map[string]string, error) {
	unlock, err := u.lock(ctx)
	if err != nil {
		return user.User{}, nil, err
	}
	defer unlock()
	i := u.index(name)
	if i < 0 {
		return user.User{}, nil, errNotFound
	}
	return u.users[i], u.copyServices(u.users[i].ID), nil
}

func (s *Store) copyServices(id user.ID) map[string]string {
	services := make(map[string]string)
	maps.Copy(services, s.services[id])
	return services
}

// Update implements user.Editor.
func (u Users) Update(ctx context.Context, name user.Name, change func(*user.User, map[string]string) error) (user.User, map[string]string, error) {
	unlock, err := u.lock(ctx)
	if err != nil {
		return user.User{}, nil, err
	}
	defer unlock()
	i := u.index(name)
	if i < 0 {
		return user.User{}, nil, errNotFound
	}
	updated, services := u.users[i], u.copyServices(u.users[i].ID)
	if err := change(&updated, services); err != nil {
		return user.User{}, nil, err
	}
	updated.ID, updated.CreatedAt = u.users[i].ID, u.users[i].CreatedAt
	if holder := u.index(updated.Name); holder >= 0 && holder != i {
		return user.User{}, nil, errConflict
	}
	u.users[i], u.services[updated.ID] = updated, maps.Clone(services)
	return updated, services, nil
}

// Delete implements user.Editor.
func (u Users) Delete(ctx context.Context, name user.Name) (user.ID, error) {
	unlock, err := u.lock(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	i := u.index(name)
	if i < 0 {
		return "", errNotFound
	}
	id := u.users[i].ID
	u.users = slices.Delete(u.users, i, i+1)
	delete(u.services, id)
	delete(u.stars, id)
	u.tokens = slices.DeleteFunc(u.tokens, func(known token.Token) bool { return known.Owner == id })
	u.pastes = slices.DeleteFunc(u.pastes, func(known paste.Paste) bool { return known.Owner == id })
	return id, nil
}

// Create implements user.Creator.
func (u Users) Create(ctx context.Context, created user.User, services map[string]string) error {
	unlock, err := u.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	switch {
	case u.exists(created.ID):
		return errIDTaken
	case u.index(created.Name) >= 0:
		return errConflict
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
func (t Tokens) AccountByHash(ctx context.Context, hash token.Hash) (token.Token, user.Account, error) {
	found, err := t.ByHash(ctx, hash)
	if err != nil {
		return token.Token{}, user.Account{}, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	account := user.Account{Stars: []string{}, Services: t.copyServices(found.Owner)}
	for _, known := range t.users {
		if known.ID == found.Owner {
			account.User = known
		}
	}
	for _, star := range t.stars[found.Owner] {
		if slices.ContainsFunc(t.pastes, func(p paste.Paste) bool { return string(p.ID) == star && t.active(p) }) {
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
		switch {
		case known.ID == created.ID:
			return errIDTaken
		case known.Hash == created.Hash:
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
func (p Pastes) ActiveCount(ctx context.Context) (count int64, err error) {
	unlock, err := p.lock(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	for _, known := range p.pastes {
		if p.active(known) {
			count++
		}
	}
	return count, nil
}

// EachActiveID implements paste.OwnerLister.
func (p Pastes) EachActiveID(ctx context.Context, owner user.ID, visit func([]byte) error) error {
	unlock, err := p.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	newestFirst := slices.SortedFunc(slices.Values(p.pastes), func(a, b paste.Paste) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	for _, known := range newestFirst {
		if known.Owner == owner && p.active(known) {
			if err := visit([]byte(known.ID)); err != nil {
				return err
			}
		}
	}
	return nil
}

// RemoveExpired implements paste.ExpiredRemover.
func (p Pastes) RemoveExpired(ctx context.Context, grace time.Duration, limit int) (removed int, err error) {
	unlock, err := p.lock(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	at := p.now().Add(-grace)
	oldestFirst := slices.SortedFunc(slices.Values(p.pastes), func(a, b paste.Paste) int { return a.ExpiresAt.Compare(b.ExpiresAt) })
	for _, known := range oldestFirst {
		if known.ActiveAt(at) || removed == limit {
			continue
		}
		p.pastes = slices.DeleteFunc(p.pastes, func(stored paste.Paste) bool { return stored.ID == known.ID })
		removed++
	}
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
		return errIDTaken
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

// Totals implements stats.Counter.
func (s Stats) Totals(ctx context.Context) (stats.Totals, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return stats.Totals{}, err
	}
	defer unlock()
	totals := stats.Totals{Users: int64(len(s.users)), Tokens: int64(len(s.tokens))}
	for _, known := range s.pastes {
		if s.active(known) {
			totals.ActivePastes++
		} else {
			totals.ExpiredPastes++
		}
	}
	for _, starred := range s.stars {
		for _, star := range starred {
			if !slices.ContainsFunc(s.pastes, func(p paste.Paste) bool { return string(p.ID) == star }) {
				totals.WaitingStars++
			}
		}
	}
	return totals, nil
}
