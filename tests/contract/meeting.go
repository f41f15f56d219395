package contract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// callers is how many meet.
const callers = 8

// meet runs call in as many goroutines as there are callers, begun together, and returns their errors.
func meet(call func(caller int) error) []error {
	errs, begin := make([]error, callers), make(chan struct{})
	var running sync.WaitGroup
	for i := range callers {
		running.Go(func() {
			<-begin
			errs[i] = call(i)
		})
	}
	close(begin)
	running.Wait()
	return errs
}

// wantOneWinner checks that one caller came through and all others failed with that kind.
func wantOneWinner(t *testing.T, errs []error, kind fault.Kind) {
	t.Helper()
	winners := 0
	for _, err := range errs {
		if err == nil {
			winners++
			continue
		}
		wantKind(t, err, kind)
	}
	want(t, "callers that came through", winners, 1)
}

func wantNoErrors(t *testing.T, errs []error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func usersMeet(t *testing.T, s Store) {
	wantOneWinner(t, meet(func(int) error { return s.Users.Create(t.Context(), newUser(t, "wanted"), nil) }), fault.Conflict)

	// Updates of different fields all hold, and so do those of the same one that build on each other.
	counted := newUser(t, "counted")
	counted.SupporterMonths = 0
	must(t, s.Users.Create(t.Context(), counted, nil))
	const rounds = 5
	wantNoErrors(t, meet(func(caller int) error {
		for round := range rounds {
			_, _, err := s.Users.Update(t.Context(), counted.Name, func(u *user.User, services map[string]string) error {
				u.SupporterMonths++
				services[fmt.Sprint(caller)] = fmt.Sprint(round)
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	}))
	found, services, err := s.Users.WithServices(t.Context(), counted.Name)
	must(t, err)
	want(t, "months", found.SupporterMonths, callers*rounds)
	for caller := range callers {
		want(t, fmt.Sprint("service of caller ", caller), services[fmt.Sprint(caller)], fmt.Sprint(rounds-1))
	}

	wantOneWinner(t, meet(func(int) error { _, err := s.Users.Delete(t.Context(), counted.Name); return err }), fault.NotFound)
}

func tokensMeet(t *testing.T, s Store) {
	owner := storedUser(t, s, "owner")
	hash := token.Generate().Hash()
	wantOneWinner(t, meet(func(caller int) error {
		return s.Tokens.Create(t.Context(), token.Token{ID: token.ID(fmt.Sprint("caller", caller)), Owner: owner.ID,
			Hash: hash, CreatedAt: now})
	}), fault.Conflict)

	made := make([]token.Token, 40)
	for i := range made {
		made[i] = storedToken(t, s, owner.ID)
	}
	latest := now.Add(callers * time.Minute)
	wantNoErrors(t, meet(func(caller int) error { // overlapping sets, walked in no order at all
		for range 5 {
			uses := make(map[token.ID]time.Time)
			for i, k := range made {
				if i%callers != caller {
					uses[k.ID] = now.Add(time.Duration(1+(i+caller)%callers) * time.Minute)
				}
			}
			if err := s.Tokens.SetLastUsed(t.Context(), uses); err != nil {
				return err
			}
		}
		return nil
	}))
	for i, k := range made {
		found, err := s.Tokens.ByHash(t.Context(), k.Hash)
		must(t, err)
		want(t, fmt.Sprint("last use of token ", i), found.LastUsedAt, latest.UTC())
	}

	wantNoErrors(t, meet(func(caller int) error {
		return s.Tokens.Revoke(t.Context(), made[0].ID, now.Add(time.Duration(caller)*time.Hour))
	}))
	first, err := s.Tokens.ByHash(t.Context(), made[0].Hash)
	must(t, err)
	must(t, s.Tokens.Revoke(t.Context(), made[0].ID, now.Add(-time.Hour)))
	again, err := s.Tokens.ByHash(t.Context(), made[0].Hash)
	must(t, err)
	want(t, "the time of the first revocation", again.RevokedAt, first.RevokedAt)
}

func pastesMeet(t *testing.T, s Store) {
	owner := storedUser(t, s, "owner")
	made := storedToken(t, s, owner.ID)
	wantOneWinner(t, meet(func(int) error {
		return s.Pastes.CreateDocument(t.Context(), paste.Document{Paste: paste.Paste{ID: "wanted", Owner: owner.ID, CreatedAt: now}})
	}), fault.Conflict)
	const each = 5
	wantNoErrors(t, meet(func(caller int) error {
		for i := range each {
			id := paste.ID(fmt.Sprintf("p%d-%d", caller, i))
			if err := s.Pastes.CreateDocument(t.Context(), paste.Document{Paste: paste.Paste{ID: id, Owner: owner.ID, CreatedAt: now}}); err != nil {
				return err
			}
			if err := s.Pastes.Star(t.Context(), owner.ID, id); err != nil {
				return err
			}
			if err := s.Pastes.Star(t.Context(), owner.ID, "wanted"); err != nil {
				return err
			}
		}
		return nil
	}))
	count, err := s.Pastes.ActiveCount(t.Context())
	must(t, err)
	want(t, "pastes", count, callers*each+1)
	want(t, "ids", len(activeIDs(t, s, owner.ID)), callers*each+1)
	_, account, err := s.Tokens.AccountByHash(t.Context(), made.Hash)
	must(t, err)
	stars := slices.Clone(account.Stars)
	slices.Sort(stars)
	want(t, "stars", len(stars), callers*each+1)
	want(t, "different stars", len(slices.Compact(stars)), callers*each+1)

	wantOneWinner(t, meet(func(int) error { return s.Pastes.Unstar(t.Context(), owner.ID, "wanted") }), fault.NotFound)
	wantOneWinner(t, meet(func(int) error { return s.Pastes.Delete(t.Context(), "wanted") }), fault.NotFound)
}

// sweepersMeet removes everything that has expired once, however many are at it.
func sweepersMeet(t *testing.T, s Store) {
	const expired = 60
	for i := range expired {
		storedPaste(t, s, fmt.Sprint("expired", i), "", now, now)
	}
	storedPaste(t, s, "lasting", "", now, time.Time{})
	var (
		mu      sync.Mutex
		removed int
	)
	wantNoErrors(t, meet(func(int) error {
		for range expired { // bounded, as one that meets another removes none
			n, err := s.Pastes.RemoveExpired(t.Context(), 0, 7)
			if err != nil {
				return err
			}
			mu.Lock()
			removed += n
			mu.Unlock()
		}
		return nil
	}))
	for range expired {
		n, err := s.Pastes.RemoveExpired(t.Context(), 0, 7)
		must(t, err)
		removed += n
	}
	want(t, "removed by all together", removed, expired)
	got, err := s.Stats.Totals(t.Context())
	must(t, err)
	want(t, "active", got.ActivePastes, 1)
	want(t, "expired", got.ExpiredPastes, 0)
}

// visitorsAsk has visitors ask the store for more, while they are called, several at once. A store may refuse that, but at
// once: what could only be had after the walk must not be waited for, and the walk goes on.
func visitorsAsk(t *testing.T, s Store) {
	owner := storedUser(t, s, "owner")
	for i := range 3 {
		storedPaste(t, s, fmt.Sprint("p", i), owner.ID, now, time.Time{})
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // who waits until then, fails with another kind
	defer cancel()
	pastesOf := func(visit func() error) error {
		return s.Pastes.EachByOwner(ctx, owner.ID, func(paste.Paste) error { return visit() })
	}
	walks := map[string]func(visit func() error) error{
		"Each":        func(visit func() error) error { return s.Users.Each(ctx, func(user.User) error { return visit() }) },
		"EachByOwner": pastesOf,
	}
	for outer, walk := range walks {
		for inner, ask := range map[string]func(caller int) error{
			"EachByOwner": func(int) error { return pastesOf(func() error { return nil }) },
			"EachByOwner, EachByOwner": func(int) error {
				return pastesOf(func() error { return pastesOf(func() error { return nil }) })
			},
			"Each":        func(int) error { return walks["Each"](func() error { return nil }) },
			"ByName":      func(int) error { _, err := s.Users.ByName(ctx, owner.Name); return err },
			"ActiveCount": func(int) error { _, err := s.Pastes.ActiveCount(ctx); return err },
			"Star":        func(caller int) error { return s.Pastes.Star(ctx, owner.ID, paste.ID(fmt.Sprint("s", caller))) },
		} {
			visits := make([]int, callers)
			wantNoErrors(t, meet(func(caller int) error {
				return walk(func() error {
					visits[caller]++
					if err := ask(caller); err != nil && fault.KindOf(err) != fault.Internal {
						return fmt.Errorf("%s within %s: %w", inner, outer, err)
					}
					return nil
				})
			}))
			for caller, visited := range visits {
				what := fmt.Sprintf("visits of caller %d of %s with %s within", caller, outer, inner)
				want(t, what, visited, map[string]int{"Each": 1, "EachByOwner": 3}[outer])
			}
		}
	}
}

// importsMeet brings the same records in from both ends at once, together with last uses: everybody comes
// through, and every record is there once.
func importsMeet(t *testing.T, s Store) {
	const records = 60
	accounts, keys, pastes := make([]user.Account, records), make([]token.Token, records), make([]paste.Document, records)
	uses := make(map[token.ID]time.Time)
	for i := range records {
		u := newUser(t, fmt.Sprint("user", i))
		u.ID = user.ID(fmt.Sprint("u", i))
		accounts[i] = user.Account{
			User: u, Stars: []string{fmt.Sprint("p", i), fmt.Sprint("p", (i+1)%records)}, Services: map[string]string{"github": fmt.Sprint(i)},
		}
		keys[i] = token.Token{ID: token.ID(fmt.Sprint("k", i)), Owner: u.ID, Hash: token.Hash{1, byte(i)}, CreatedAt: now}
		pastes[i] = newDocument(paste.ID(fmt.Sprint("p", i)))
		pastes[i].Owner, pastes[i].Pasties = u.ID, pastes[i].Pasties[:1]
		uses[keys[i].ID] = now
	}
	_, err := s.Users.Import(t.Context(), accounts[:records/2])
	must(t, err)
	results := make([][]batch.Result, callers)
	wantNoErrors(t, meet(func(caller int) (err error) {
		a, k, p := slices.Clone(accounts), slices.Clone(keys), slices.Clone(pastes)
		if caller%2 == 1 {
			slices.Reverse(a)
			slices.Reverse(k)
			slices.Reverse(p)
		}
		if _, err = s.Users.Import(t.Context(), a); err != nil {
			return err
		}
		if _, err = s.Tokens.Import(t.Context(), k); err != nil {
			return err
		}
		if err = s.Tokens.SetLastUsed(t.Context(), uses); err != nil {
			return err
		}
		results[caller], err = s.Pastes.Import(t.Context(), p, paste.RefuseOrphans)
		return err
	}))
	fresh := 0
	for _, of := range results {
		for _, result := range of {
			must(t, result.Err)
			if result.Outcome == batch.New {
				fresh++
			}
		}
	}
	want(t, "pastes that were new to somebody", fresh, records)
	got, err := s.Stats.Totals(t.Context())
	must(t, err)
	want(t, "users", got.Users, records)
	want(t, "tokens", got.Tokens, records)
	want(t, "pastes", got.ActivePastes, records)
	want(t, "waiting stars", got.WaitingStars, 0)
}
