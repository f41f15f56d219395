// Package fake is a store in memory, for tests of the layers above the store. The contract suites run over it, too, so
// that it behaves as the databases do.
package fake

import (
	"cmp"
	"context"
	"maps"
	"math"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/stats"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// Store is a store. Its zero value is empty.
type Store struct {
	// Now is the clock that says which pastes have expired. Default: time.Now.
	Now func() time.Time

	mu       sync.Mutex
	users    []user.User
	services map[user.ID]map[string]string
	stars    map[user.ID][]string
	tokens   []token.Token
	pastes   []paste.Paste
	contents map[paste.ID]paste.Content
	quotas   map[paste.Client]time.Time // the time at which each client has its whole quota again
	former   map[string]formerName
	graves   map[[2]string]bool // tombstones, by kind and id
	own      map[user.ID]user.LocalChanges
	unshared map[paste.ID]bool

	Removed     map[paste.ID]bool // pastes that operators removed, and whether their pages say so
	attempts    map[identity.Hash]attempt
	passkeys    map[user.ID][]identity.Passkey
	ceremonies  map[identity.Hash]ceremony
	invitations []identity.Invitation
	passwords   map[user.ID]identity.PasswordHash
	links       []identity.OneTimeLink
}

// The parts of a Store are separate types, because their ports have methods of the same names.
type (
	// Users keeps users.
	Users struct{ *Store }
	// Tokens keeps access tokens.
	Tokens struct{ *Store }
	// Pastes keeps pastes and stars.
	Pastes struct{ *Store }
	// Stats counts users, tokens and pastes.
	Stats struct{ *Store }
)

var (
	errNotFound = fault.New(fault.NotFound, "There is none.")
	errConflict = fault.New(fault.Conflict, "It exists.")
	errIDTaken  = fault.Wrap(fault.Conflict, "It exists.", ident.ErrTaken)
)

// lock fails as a database does if ctx is cancelled.
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

// bury leaves a tombstone.
func (s *Store) bury(kind, id string) {
	if s.graves == nil {
		s.graves = make(map[[2]string]bool)
	}
	s.graves[[2]string{kind, id}] = true
}

func (s *Store) buried(kind, id string) bool { return s.graves[[2]string{kind, id}] }

func (s *Store) removedUser(id user.ID) bool { return s.buried("user", string(id)) && !s.exists(id) }

// ByName implements user.Store.
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
	return slices.IndexFunc(s.users, func(other user.User) bool { return other.Name.Folded() == name.Folded() })
}

// StaleByName implements user.Store.
func (u Users) StaleByName(ctx context.Context, name user.Name) (user.User, error) {
	return u.ByName(ctx, name)
}

// StaleByID implements user.Store.
func (u Users) StaleByID(ctx context.Context, id user.ID) (user.User, error) { return u.ByID(ctx, id) }

// ByID implements user.Store.
func (u Users) ByID(ctx context.Context, id user.ID) (user.User, error) {
	unlock, err := u.lock(ctx)
	if err != nil {
		return user.User{}, err
	}
	defer unlock()
	if account, ok := u.byID(id); ok {
		return account, nil
	}
	return user.User{}, errNotFound
}

func (s *Store) byID(id user.ID) (user.User, bool) {
	i := slices.IndexFunc(s.users, func(other user.User) bool { return other.ID == id })
	if i < 0 {
		return user.User{}, false
	}
	return s.users[i], true
}

func (s *Store) copyServices(id user.ID) map[string]string {
	services := make(map[string]string)
	maps.Copy(services, s.services[id])
	return services
}

// Update implements user.Store.
func (u Users) Update(
	ctx context.Context, _ netip.Addr, _ auditlog.Entry, id user.ID, change func(*user.User, map[string]string) error,
) (user.User, map[string]string, error) {
	unlock, err := u.lock(ctx)
	if err != nil {
		return user.User{}, nil, err
	}
	defer unlock()
	i := slices.IndexFunc(u.users, func(other user.User) bool { return other.ID == id })
	if i < 0 {
		return user.User{}, nil, errNotFound
	}
	after, services := u.users[i], u.copyServices(u.users[i].ID)
	if err := change(&after, services); err != nil {
		return user.User{}, nil, err
	}
	after.ID, after.CreatedAt = u.users[i].ID, u.users[i].CreatedAt
	if holder := u.index(after.Name); holder >= 0 && holder != i {
		return user.User{}, nil, errConflict
	}
	if u.servicesTaken(after.ID, services) {
		return user.User{}, nil, user.ErrIdentityTaken
	}
	if old := u.users[i].Name; old.Folded() != after.Name.Folded() {
		if former, ok := u.former[after.Name.Folded()]; ok && former.id != after.ID &&
			u.now().Sub(former.at) < user.NameReserved {
			return user.User{}, nil, errConflict
		}
		u.giveUp(old, after.ID)
	}
	u.endSetup(u.users[i].Admin != after.Admin)
	u.remember(u.users[i], after, services)
	u.users[i], u.services[after.ID] = after, maps.Clone(services)
	return after, services, nil
}

// remember records what a change undoes, so that no import does it again.
func (s *Store) remember(before, after user.User, services map[string]string) {
	own := s.ownOf(after.ID)
	own.Closed = user.Closed(own.Closed, before, after)
	for name, id := range s.services[after.ID] {
		if services[name] != id {
			delete(own.Linked, name)
			if own.Unlinked[name] == nil {
				own.Unlinked[name] = make(map[string]bool)
			}
			own.Unlinked[name][id] = true
		}
	}
	for name, id := range services {
		if s.services[after.ID][name] != id {
			own.Linked[name] = true
			delete(own.Unlinked[name], id)
		}
	}
	s.own[after.ID] = own
}

func (s *Store) ownOf(id user.ID) user.LocalChanges {
	if s.own == nil {
		s.own = make(map[user.ID]user.LocalChanges)
	}
	if _, ok := s.own[id]; !ok {
		s.own[id] = user.LocalChanges{Linked: make(map[string]bool), Unlinked: make(map[string]map[string]bool)}
	}
	return s.own[id]
}

// Delete implements user.Store.
func (u Users) Delete(ctx context.Context, _ netip.Addr, _ auditlog.Entry, id user.ID, name user.Name,
	retention *user.PasteRetention) error {
	unlock, err := u.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	i := u.index(name)
	if i < 0 || u.users[i].ID != id {
		return errNotFound
	}
	u.giveUp(u.users[i].Name, id)
	u.endSetup(u.users[i].Admin)
	u.users = slices.Delete(u.users, i, i+1)
	delete(u.services, id)
	delete(u.own, id)
	delete(u.stars, id)
	delete(u.passkeys, id)
	delete(u.passwords, id)
	u.endLinks(id)
	u.tokens = slices.DeleteFunc(u.tokens, func(t token.Token) bool { return t.Owner == id })
	if retention != nil {
		u.giveUpPastes(id, *retention)
	}
	u.remove(func(p paste.Paste) bool { return p.Owner == id })
	u.bury("user", string(id))
	return nil
}

func (s *Store) createUser(created user.User, services map[string]string) error {
	switch {
	case s.exists(created.ID):
		return errIDTaken
	case s.index(created.Name) >= 0:
		return errConflict
	case s.servicesTaken(created.ID, services):
		return user.ErrIdentityTaken
	}
	if s.services == nil {
		s.services, s.stars = make(map[user.ID]map[string]string), make(map[user.ID][]string)
	}
	created.CreatedAt = created.CreatedAt.UTC()
	s.users = append(s.users, created)
	s.services[created.ID] = maps.Clone(services)
	for name := range services {
		s.ownOf(created.ID).Linked[name] = true
	}
	return nil
}

// giveUpPastes makes a user's pastes anonymous, except private ones.
func (s *Store) giveUpPastes(owner user.ID, retention user.PasteRetention) {
	for i := range s.pastes {
		content := s.contents[s.pastes[i].ID]
		if s.pastes[i].Owner == owner && content.Visibility != paste.Private {
			s.pastes[i].Owner, content.Visibility, content.Tags = "", paste.Unlisted, nil
			if expires := s.pastes[i].ExpiresAt; !retention.Until.IsZero() &&
				(expires.IsZero() || expires.After(retention.Until)) {
				s.pastes[i].ExpiresAt, content.Lifetime = retention.Until, paste.Lifetime(retention.Lifetime)
			}
			s.contents[s.pastes[i].ID] = content
		}
	}
}

// Users implements user.Store.
func (u Users) Users(ctx context.Context, after user.Name, limit int) ([]user.User, error) {
	unlock, err := u.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	all := slices.SortedFunc(slices.Values(u.users), func(a, b user.User) int {
		return cmp.Compare(a.Name.Folded(), b.Name.Folded())
	})
	all = slices.DeleteFunc(all, func(other user.User) bool { return other.Name.Folded() <= after.Folded() })
	return all[:min(len(all), limit)], nil
}

// Import implements user.Store.
func (u Users) Import(ctx context.Context, accounts []user.Import) ([]batch.Result, error) {
	unlock, err := u.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	results := make([]batch.Result, len(accounts))
	var (
		ids       []user.ID
		names     []string
		positions []int // of ids in accounts
		current   = make(map[user.ID]string)
	)
	for i, account := range accounts {
		if u.removedUser(account.ID) {
			results[i].Outcome = batch.RemovedEarlier
			continue
		}
		ids, names, positions = append(ids, account.ID), append(names, account.Name.Folded()), append(positions, i)
	}
	for _, stored := range u.users {
		current[stored.ID] = stored.Name.Folded()
	}
	for n, refused := range refuse(ids, names, current) {
		i := positions[n]
		if refused {
			results[i].Err = errConflict
			continue
		}
		var stored user.Account
		at := slices.IndexFunc(u.users, func(other user.User) bool { return other.ID == accounts[i].ID })
		if at >= 0 {
			stored = user.Account{User: u.users[at], Stars: u.stars[accounts[i].ID], Identities: u.services[accounts[i].ID]}
		}
		want := accounts[i].Over(stored, u.ownOf(accounts[i].ID))
		want.CreatedAt = want.CreatedAt.UTC()
		if u.servicesTaken(want.ID, want.Identities) {
			results[i].Err = user.ErrIdentityTaken
			continue
		}
		if at < 0 {
			u.users = append(u.users, want.User)
		} else {
			results[i].Outcome = batch.Updated
			if want.User == u.users[at] && maps.Equal(want.Identities, u.services[want.ID]) &&
				slices.Equal(want.Stars, u.stars[want.ID]) {
				results[i].Outcome = batch.Unchanged
			}
			if old := u.users[at].Name; old.Folded() != want.Name.Folded() {
				u.giveUp(old, want.ID)
			}
			u.users[at] = want.User
		}
		if u.services == nil {
			u.services, u.stars = make(map[user.ID]map[string]string), make(map[user.ID][]string)
		}
		u.services[want.ID], u.stars[want.ID] = maps.Clone(want.Identities), slices.Clone(want.Stars)
	}
	return results, nil
}

// refuse reports which items of a batch cannot have the key that they want, because another item has it in the end. A
// refusal can cause another, since a refused item keeps its current key.
func refuse[ID, Key comparable](ids []ID, keys []Key, current map[ID]Key) []bool {
	refused := make([]bool, len(ids))
	for again := true; again; {
		again = false
		final := maps.Clone(current)
		for i, id := range ids {
			if !refused[i] && current[id] != keys[i] { // an item that keeps its key has precedence over those that want it
				delete(final, id)
			}
		}
		holders := make(map[Key]ID)
		for id, key := range final {
			holders[key] = id
		}
		for i, id := range ids {
			if holder, ok := holders[keys[i]]; !refused[i] && ok && holder != id {
				refused[i], again = true, true
			} else if !refused[i] {
				holders[keys[i]] = id
			}
		}
	}
	return refused
}

// AccountByID implements user.Store.
func (u Users) AccountByID(ctx context.Context, id user.ID) (user.Account, error) {
	unlock, err := u.lock(ctx)
	if err != nil {
		return user.Account{}, err
	}
	defer unlock()
	owner, ok := u.byID(id)
	if !ok {
		return user.Account{}, errNotFound
	}
	account := user.Account{User: owner, Stars: []string{}, Identities: u.copyServices(id)}
	for _, star := range u.stars[id] {
		if slices.ContainsFunc(u.pastes, func(p paste.Paste) bool { return string(p.ID) == star && u.active(p) }) {
			account.Stars = append(account.Stars, star)
		}
	}
	return account, nil
}

// ByHash implements token.Store.
func (t Tokens) ByHash(ctx context.Context, hash token.Hash) (token.Token, user.User, error) {
	unlock, err := t.lock(ctx)
	if err != nil {
		return token.Token{}, user.User{}, err
	}
	defer unlock()
	for _, stored := range t.tokens {
		if stored.Hash == hash {
			owner, _ := t.byID(stored.Owner)
			return stored, owner, nil
		}
	}
	return token.Token{}, user.User{}, errNotFound
}

// Create implements token.Store.
func (t Tokens) Create(ctx context.Context, _ netip.Addr, _ auditlog.Entry, created token.Token) error {
	unlock, err := t.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return t.create(created)
}

func (t Tokens) create(created token.Token) error {
	for _, other := range t.tokens {
		switch {
		case other.ID == created.ID:
			return errIDTaken
		case other.Hash == created.Hash:
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

// SetLastUsed implements token.Store.
func (t Tokens) SetLastUsed(ctx context.Context, uses map[token.ID]time.Time) error {
	unlock, err := t.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	for i, stored := range t.tokens {
		if at, ok := uses[stored.ID]; ok && at.After(stored.LastUsedAt) {
			t.tokens[i].LastUsedAt = at.UTC()
		}
	}
	return nil
}

// ByOwner implements token.Store.
func (t Tokens) ByOwner(ctx context.Context, owner user.ID) ([]token.Token, error) {
	unlock, err := t.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	tokens := []token.Token{}
	for _, stored := range t.tokens {
		if stored.Owner == owner && stored.Kind == token.Access {
			tokens = append(tokens, stored)
		}
	}
	slices.SortFunc(tokens, func(a, b token.Token) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return tokens, nil
}

// Revoke implements token.Store.
func (t Tokens) Revoke(ctx context.Context, _ netip.Addr, _ auditlog.Entry, id token.ID, at time.Time) error {
	unlock, err := t.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	for i, stored := range t.tokens {
		if stored.ID == id && stored.Kind == token.Access {
			if stored.RevokedAt.IsZero() {
				t.tokens[i].RevokedAt = at.UTC()
			}
			t.endSessionsOf(id)
			return nil
		}
	}
	return errNotFound
}

// Import implements token.Store.
func (t Tokens) Import(ctx context.Context, tokens []token.Token) ([]batch.Result, error) {
	unlock, err := t.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	results := make([]batch.Result, len(tokens))
	var (
		ids       []token.ID
		hashes    []token.Hash
		positions []int // of ids in tokens
		current   = make(map[token.ID]token.Hash)
	)
	for i, want := range tokens {
		if t.removedUser(want.Owner) {
			results[i].Outcome = batch.RemovedEarlier
			continue
		}
		if !t.exists(want.Owner) {
			results[i].Err = errNotFound
			continue
		}
		ids, hashes, positions = append(ids, want.ID), append(hashes, want.Hash), append(positions, i)
	}
	for _, stored := range t.tokens {
		current[stored.ID] = stored.Hash
	}
	for n, refused := range refuse(ids, hashes, current) {
		i := positions[n]
		if refused {
			results[i].Err = errConflict
			continue
		}
		want := tokens[i]
		want.CreatedAt = want.CreatedAt.UTC()
		at := slices.IndexFunc(t.tokens, func(other token.Token) bool { return other.ID == want.ID })
		switch {
		case at < 0:
			t.tokens = append(t.tokens, want)
		case t.tokens[at].Hash == want.Hash:
			results[i].Outcome = batch.Unchanged
		default:
			results[i].Outcome, t.tokens[at] = batch.Updated, want
			t.endSessionsOf(want.ID)
		}
	}
	return results, nil
}

// ActiveCount implements paste.Store.
func (p Pastes) ActiveCount(ctx context.Context) (count int64, err error) {
	unlock, err := p.lock(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	for _, stored := range p.pastes {
		if p.active(stored) {
			count++
		}
	}
	return count, nil
}

// ActiveIDs implements paste.Store.
func (p Pastes) ActiveIDs(ctx context.Context, owner user.ID,
	after paste.Cursor, limit int) (ids []paste.ID, last paste.Cursor, err error) {
	unlock, err := p.lock(ctx)
	if err != nil {
		return nil, last, err
	}
	defer unlock()
	ids = []paste.ID{}
	for _, stored := range p.newestFirst() {
		if stored.OwnedBy(owner) && p.active(stored) && after.Before(stored.Cursor()) && len(ids) < limit {
			last = stored.Cursor()
			ids = append(ids, stored.ID)
		}
	}
	return ids, last, nil
}

// RemoveExpired implements paste.Store.
func (p Pastes) RemoveExpired(ctx context.Context, grace time.Duration, limit int) (removed int, err error) {
	unlock, err := p.lock(ctx)
	if err != nil {
		return 0, err
	}
	defer unlock()
	at := p.now().Add(-grace)
	oldestFirst := slices.SortedFunc(slices.Values(p.pastes), func(a, b paste.Paste) int {
		return a.ExpiresAt.Compare(b.ExpiresAt)
	})
	for _, expired := range oldestFirst {
		if expired.ActiveAt(at) || removed == limit {
			continue
		}
		p.pastes = slices.DeleteFunc(p.pastes, func(other paste.Paste) bool { return other.ID == expired.ID })
		delete(p.contents, expired.ID)
		delete(p.unshared, expired.ID)
		removed++
	}
	return removed, nil
}

// Star implements paste.Store.
func (p Pastes) Star(ctx context.Context, _ netip.Addr, starrer user.ID, id paste.ID) error {
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

// Select implements paste.Store.
func (p Pastes) Select(ctx context.Context, owner user.ID,
	selection paste.Selection, limit int) ([]paste.Summary, error) {
	profile, _ := p.byID(owner)
	all, err := p.summaries(ctx, paste.Cursor{}, math.MaxInt, func(d paste.Document) bool {
		return d.OwnedBy(owner) && (d.Cipher == nil || d.Cipher.Version > 0 && !selection.Public) &&
			(!selection.Public || d.Visibility == paste.Public && !d.Burns && profile.PublicProfile) &&
			hasTitle(d, selection.Title) &&
			(selection.Tag == "" || slices.Contains(d.Tags, selection.Tag) && (profile.ShowTags || !selection.Public))
	})
	if err != nil {
		return nil, err
	}
	compare := func(a, b paste.Selection) int {
		if selection.Order == paste.ByTitle {
			return cmp.Or(cmp.Compare(a.AfterTitle, b.AfterTitle), cmp.Compare(a.After.ID, b.After.ID))
		}
		return cmp.Or(b.After.CreatedAt.Compare(a.After.CreatedAt), cmp.Compare(b.After.ID, a.After.ID))
	}
	all = slices.DeleteFunc(all, func(summary paste.Summary) bool {
		return selection.After != (paste.Cursor{}) && compare(selection, selection.Next(&summary)) >= 0
	})
	slices.SortFunc(all, func(a, b paste.Summary) int { return compare(selection.Next(&a), selection.Next(&b)) })
	for i := range all {
		if selection.Public && !profile.ShowTags {
			all[i].Tags = nil
		}
	}
	return cut(all[:min(len(all), limit)], nil)
}

// Profile implements paste.Store.
func (p Pastes) Profile(
	ctx context.Context, name user.Name, allow func(user.User) error, selection paste.Selection, limit int,
) (user.User, []paste.Summary, error) {
	owner, err := Users(p).ByName(ctx, name)
	if err == nil {
		err = allow(owner)
	}
	if err != nil {
		return user.User{}, nil, err
	}
	selection.Public = true
	summaries, err := p.Select(ctx, owner.ID, selection, limit)
	return owner, summaries, err
}

// Recent implements paste.Store.
func (p Pastes) Recent(ctx context.Context, title string, after paste.Cursor, limit int) ([]paste.Summary, error) {
	return cut(p.summaries(ctx, after, limit, func(d paste.Document) bool {
		owner, ok := p.byID(d.Owner)
		return ok && owner.PublicProfile && d.Visibility == paste.Public && !d.Encrypted() && hasTitle(d, title)
	}))
}

// StarredBy implements paste.Store.
func (p Pastes) StarredBy(
	ctx context.Context, reader user.ID, title string, after paste.Cursor, limit int,
) ([]paste.Summary, error) {
	return cut(p.summaries(ctx, after, limit, func(d paste.Document) bool {
		_, err := d.ForReader(reader)
		return err == nil && !d.Burns && slices.Contains(p.stars[reader], string(d.ID)) && hasTitle(d, title)
	}))
}

func (p Pastes) summaries(
	ctx context.Context, after paste.Cursor, limit int, include func(paste.Document) bool,
) ([]paste.Summary, error) {
	unlock, err := p.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	summaries := []paste.Summary{}
	for _, stored := range p.newestFirst() {
		content, ok := p.contents[stored.ID]
		if ok && include(paste.Document{Paste: stored, Content: content}) && p.active(stored) &&
			after.Before(stored.Cursor()) && len(summaries) < limit {
			summary := summaryOf(paste.Document{Paste: stored, Content: content})
			if owner, ok := p.byID(stored.Owner); ok && owner.PublicProfile {
				summary.OwnerName = owner.Name.String()
			}
			summary.Stars = p.starsOf(stored.ID)
			summaries = append(summaries, summary)
		}
	}
	return summaries, nil
}

// cut cuts the pasties of a list to the length of an answer.
func cut(summaries []paste.Summary, err error) ([]paste.Summary, error) {
	paste.CutPasties(len(summaries), func(i int) *paste.Summary { return &summaries[i] })
	return summaries, err
}

func (s *Store) starsOf(id paste.ID) (stars int64) {
	for _, starred := range s.stars {
		if slices.Contains(starred, string(id)) {
			stars++
		}
	}
	return stars
}

// titleOf returns the title by which lists are sorted.
func titleOf(d paste.Document) string {
	if d.Title == "" && len(d.Pasties) > 0 {
		return d.Pasties[0].Title
	}
	return d.Title
}

// hasTitle reports whether a paste's title contains a part.
func hasTitle(d paste.Document, part string) bool {
	return strings.Contains(paste.FoldTitle(titleOf(d)), paste.FoldTitle(part))
}

func summaryOf(d paste.Document) paste.Summary {
	summary := paste.Summary{
		Paste: d.Paste, Title: d.Title, Visibility: d.Visibility, Encrypted: d.Encrypted(),
		EditedAt: d.CreatedAt, Tags: d.Tags,
	}
	if len(d.Pasties) > 0 {
		summary.PastyTitle, summary.FirstLine = d.Pasties[0].Title, paste.FirstLine(d.Pasties[0].Code)
	}
	if n := len(d.Edits); n > 0 {
		summary.EditedAt = d.Edits[n-1].At
	}
	summary.Bytes, summary.PastyCount = d.ContentBytes(), len(d.Pasties)
	for _, p := range d.Pasties {
		summary.Pasties = append(summary.Pasties, p.Summary())
	}
	key := []rune(paste.FoldTitle(cmp.Or(summary.Title, summary.PastyTitle)))
	summary.TitleKey = string(key[:min(len(key), 100)])
	return summary
}

func (s *Store) newestFirst() []paste.Paste {
	return slices.SortedFunc(slices.Values(s.pastes), func(a, b paste.Paste) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
}

// Unstar implements paste.Store.
func (p Pastes) Unstar(ctx context.Context, _ netip.Addr, starrer user.ID, id paste.ID) error {
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
	totals := stats.Totals{Counts: stats.Counts{Users: int64(len(s.users))}}
	for _, t := range s.tokens {
		if t.Kind == token.Access {
			totals.Tokens++
		}
	}
	totals.Days = make([]stats.Day, stats.MostDays)
	for i := range totals.Days {
		totals.Days[i].Begin = s.now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -i)
	}
	holders := make(map[user.ID]stats.Holder)
	for _, stored := range s.pastes {
		if s.active(stored) {
			totals.ActivePastes++
		} else {
			totals.ExpiredPastes++
		}
		content := s.contents[stored.ID]
		totals.ContentBytes += content.ContentBytes()
		totals.HistoryBytes += content.HistoryBytes()
		if owner, ok := s.byID(stored.Owner); ok {
			holders[owner.ID] = stats.Holder{
				Username: owner.Name.String(), Pastes: holders[owner.ID].Pastes + 1,
				Bytes: holders[owner.ID].Bytes + content.Bytes(),
			}
		}
		for i, day := range totals.Days {
			if stored.CreatedAt.UTC().Truncate(24 * time.Hour).Equal(day.Begin) {
				totals.Days[i].Pastes++
			}
		}
	}
	largest := slices.SortedFunc(maps.Keys(holders), func(a, b user.ID) int {
		return cmp.Or(cmp.Compare(holders[b].Bytes, holders[a].Bytes), cmp.Compare(a, b))
	})
	for _, owner := range largest[:min(len(largest), stats.MostHolders)] {
		totals.Largest = append(totals.Largest, holders[owner])
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
