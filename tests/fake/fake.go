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

	"github.com/gluepot/gluepot/domain/batch"
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
	contents map[paste.ID]paste.Content
	quotas   map[paste.Client]time.Time // when each client has its whole quota again
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

// StaleByID implements user.StaleIDFinder.
func (u Users) StaleByID(ctx context.Context, id user.ID) (user.User, error) {
	unlock, err := u.lock(ctx)
	if err != nil {
		return user.User{}, err
	}
	defer unlock()
	for _, known := range u.users {
		if known.ID == id {
			return known, nil
		}
	}
	return user.User{}, errNotFound
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

// Update implements user.Updater.
func (u Users) Update(ctx context.Context, name user.Name, change func(*user.User, map[string]string) error) (
	user.User, map[string]string, error,
) {
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

// Delete implements user.Deleter.
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

// Each implements user.Lister.
func (u Users) Each(ctx context.Context, visit func(user.User) error) error {
	unlock, err := u.lock(ctx)
	if err != nil {
		return err
	}
	all := slices.SortedFunc(slices.Values(u.users), func(a, b user.User) int {
		return cmp.Compare(a.Name.Folded(), b.Name.Folded())
	})
	unlock()
	for _, known := range all {
		if err := visit(known); err != nil {
			return err
		}
	}
	return nil
}

// Import implements user.Importer.
func (u Users) Import(ctx context.Context, accounts []user.Account) ([]batch.Result, error) {
	unlock, err := u.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	ids, names, current := make([]user.ID, len(accounts)), make([]string, len(accounts)), make(map[user.ID]string)
	for i, account := range accounts {
		ids[i], names[i] = account.ID, account.Name.Folded()
	}
	for _, known := range u.users {
		current[known.ID] = known.Name.Folded()
	}
	results := make([]batch.Result, len(accounts))
	for i, refused := range refuse(ids, names, current) {
		if refused {
			results[i].Err = errConflict
			continue
		}
		wanted := accounts[i]
		wanted.CreatedAt = wanted.CreatedAt.UTC()
		known := slices.IndexFunc(u.users, func(known user.User) bool { return known.ID == wanted.ID })
		if known < 0 {
			u.users = append(u.users, wanted.User)
		} else {
			wanted.CreatedAt = u.users[known].CreatedAt
			results[i].Outcome = batch.Updated
			if wanted.User == u.users[known] && maps.Equal(wanted.Services, u.services[wanted.ID]) &&
				slices.Equal(wanted.Stars, u.stars[wanted.ID]) {
				results[i].Outcome = batch.Unchanged
			}
			u.users[known] = wanted.User
		}
		if u.services == nil {
			u.services, u.stars = make(map[user.ID]map[string]string), make(map[user.ID][]string)
		}
		u.services[wanted.ID], u.stars[wanted.ID] = maps.Clone(wanted.Services), slices.Clone(wanted.Stars)
	}
	return results, nil
}

// refuse says which of a batch cannot have the key that it wants, because another one has it in the end. Each
// refusal can be the cause of another, since whoever is refused keeps its key.
func refuse[ID, Key comparable](ids []ID, keys []Key, current map[ID]Key) []bool {
	refused := make([]bool, len(ids))
	for again := true; again; {
		again = false
		final := maps.Clone(current)
		for i, id := range ids {
			if !refused[i] {
				delete(final, id)
			}
		}
		holders := make(map[Key]ID)
		for id, key := range final {
			holders[key] = id
		}
		for i, id := range ids {
			if holder, held := holders[keys[i]]; !refused[i] && held && holder != id {
				refused[i], again = true, true
			} else if !refused[i] {
				holders[keys[i]] = id
			}
		}
	}
	return refused
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

// ByOwner implements token.OwnerLister.
func (t Tokens) ByOwner(ctx context.Context, owner user.ID) ([]token.Token, error) {
	unlock, err := t.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	owned := []token.Token{}
	for _, known := range t.tokens {
		if known.Owner == owner {
			owned = append(owned, known)
		}
	}
	slices.SortFunc(owned, func(a, b token.Token) int { return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID)) })
	return owned, nil
}

// Revoke implements token.Revoker.
func (t Tokens) Revoke(ctx context.Context, id token.ID, at time.Time) error {
	unlock, err := t.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	for i, known := range t.tokens {
		if known.ID == id {
			if known.RevokedAt.IsZero() {
				t.tokens[i].RevokedAt = at.UTC()
			}
			return nil
		}
	}
	return errNotFound
}

// Import implements token.Importer.
func (t Tokens) Import(ctx context.Context, tokens []token.Token) ([]batch.Result, error) {
	unlock, err := t.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	results := make([]batch.Result, len(tokens))
	var (
		ids     []token.ID
		hashes  []token.Hash
		known   []int // where they stand in tokens
		current = make(map[token.ID]token.Hash)
	)
	for i, wanted := range tokens {
		if !t.exists(wanted.Owner) {
			results[i].Err = errNotFound
			continue
		}
		ids, hashes, known = append(ids, wanted.ID), append(hashes, wanted.Hash), append(known, i)
	}
	for _, stored := range t.tokens {
		current[stored.ID] = stored.Hash
	}
	for n, refused := range refuse(ids, hashes, current) {
		i := known[n]
		if refused {
			results[i].Err = errConflict
			continue
		}
		wanted := tokens[i]
		wanted.CreatedAt = wanted.CreatedAt.UTC()
		stored := slices.IndexFunc(t.tokens, func(stored token.Token) bool { return stored.ID == wanted.ID })
		switch {
		case stored < 0:
			t.tokens = append(t.tokens, wanted)
		case t.tokens[stored].Hash == wanted.Hash:
			results[i].Outcome = batch.Unchanged
		default:
			results[i].Outcome, t.tokens[stored] = batch.Updated, wanted
		}
	}
	return results, nil
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

// EachActiveID implements paste.ActiveIDLister.
func (p Pastes) EachActiveID(ctx context.Context, owner user.ID, visit func(paste.ID) error) error {
	unlock, err := p.lock(ctx)
	if err != nil {
		return err
	}
	all := p.newestFirst()
	unlock() // a visitor may ask for more
	for _, known := range all {
		if known.Owner == owner && p.active(known) {
			if err := visit(known.ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// fewIDs is how many ids HeldIDs returns.
const fewIDs = 100

// HeldIDs implements paste.HeldIDFinder.
func (p Pastes) HeldIDs(ctx context.Context, hash token.Hash) (holder token.Token, ids []paste.ID, all bool, err error) {
	if holder, err = Tokens(p).ByHash(ctx, hash); err != nil {
		return token.Token{}, nil, false, err
	}
	ids = []paste.ID{}
	err = p.EachActiveID(ctx, holder.Owner, func(id paste.ID) error {
		ids = append(ids, id)
		return nil
	})
	if err != nil || len(ids) > fewIDs {
		return holder, nil, false, err
	}
	return holder, ids, true, nil
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

// EachByOwner implements paste.OwnerLister.
func (p Pastes) EachByOwner(ctx context.Context, owner user.ID, visit func(paste.Paste) error) error {
	unlock, err := p.lock(ctx)
	if err != nil {
		return err
	}
	all := p.newestFirst()
	unlock()
	for _, known := range all {
		if known.Owner == owner {
			if err := visit(known); err != nil {
				return err
			}
		}
	}
	return nil
}

// PublicByOwner implements paste.PublicLister.
func (p Pastes) PublicByOwner(ctx context.Context, owner user.ID, after paste.Place, limit int) ([]paste.Listed, error) {
	return p.listed(ctx, owner, after, limit, func(c paste.Content) bool { return c.Visibility == paste.Public })
}

// TitlesByOwner implements paste.TitleLister.
func (p Pastes) TitlesByOwner(ctx context.Context, owner user.ID, after paste.Place, limit int) ([]paste.Listed, error) {
	return p.listed(ctx, owner, after, limit, func(paste.Content) bool { return true })
}

func (p Pastes) listed(
	ctx context.Context, owner user.ID, after paste.Place, limit int, shown func(paste.Content) bool,
) ([]paste.Listed, error) {
	unlock, err := p.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	listed := []paste.Listed{}
	for _, known := range p.newestFirst() {
		content, stored := p.contents[known.ID]
		if known.Owner == owner && stored && shown(content) && !content.Encrypted() && p.active(known) &&
			after.Before(known.Place()) && len(listed) < limit {
			listed = append(listed, paste.Listed{Paste: known, Title: content.Title, Visibility: content.Visibility})
		}
	}
	return listed, nil
}

func (s *Store) newestFirst() []paste.Paste {
	return slices.SortedFunc(slices.Values(s.pastes), func(a, b paste.Paste) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
}

// Delete implements paste.Deleter.
func (p Pastes) Delete(ctx context.Context, id paste.ID) error {
	unlock, err := p.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	before := len(p.pastes)
	p.pastes = slices.DeleteFunc(p.pastes, func(known paste.Paste) bool { return known.ID == id })
	if len(p.pastes) == before {
		return errNotFound
	}
	return nil
}

// Unstar implements paste.Unstarrer.
func (p Pastes) Unstar(ctx context.Context, starrer user.ID, id paste.ID) error {
	unlock, err := p.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	i := slices.Index(p.stars[starrer], string(id))
	if i < 0 {
		return errNotFound
	}
	p.stars[starrer] = slices.Delete(p.stars[starrer], i, i+1)
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
