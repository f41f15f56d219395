package contract

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/stats"
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
	wantOneWinner(t, meet(func(int) error {
		return s.createUser(t.Context(), newUser(t, "wanted"), nil)
	}), fault.Conflict)

	// Updates of different fields all hold, and so do those of the same one that build on each other.
	counted := newUser(t, "counted")
	counted.SupporterMonths = 0
	must(t, s.createUser(t.Context(), counted, nil))
	const rounds = 5
	wantNoErrors(t, meet(func(caller int) error {
		for round := range rounds {
			_, _, err := s.Users.Update(t.Context(), nowhere, unrecorded, counted.ID,
				func(u *user.User, services map[string]string) error {
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
	account, err := s.Users.AccountByID(t.Context(), counted.ID)
	must(t, err)
	want(t, "months", account.SupporterMonths, callers*rounds)
	for caller := range callers {
		want(t, fmt.Sprint("service of caller ", caller), account.Identities[fmt.Sprint(caller)], fmt.Sprint(rounds-1))
	}

	wantOneWinner(t, meet(func(int) error {
		return s.Users.Delete(t.Context(), nowhere, unrecorded, counted.ID, counted.Name, nil)
	}), fault.NotFound)
}

func tokensMeet(t *testing.T, s Store) {
	owner := storedUser(t, s, "owner")
	hash := token.Generate().Hash()
	wantOneWinner(t, meet(func(caller int) error {
		return s.Tokens.Create(t.Context(), nowhere, unrecorded,
			token.Token{ID: token.ID(fmt.Sprint("caller", caller)), Owner: owner.ID,
				Hash: hash, CreatedAt: now})
	}), fault.Conflict)

	created := make([]token.Token, 40)
	for i := range created {
		created[i] = storedToken(t, s, owner.ID)
	}
	latest := now.Add(callers * time.Minute)
	wantNoErrors(t, meet(func(caller int) error { // overlapping sets, walked in no order at all
		for range 5 {
			uses := make(map[token.ID]time.Time)
			for i, k := range created {
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
	for i, k := range created {
		tok, _, err := s.Tokens.ByHash(t.Context(), k.Hash)
		must(t, err)
		want(t, fmt.Sprint("last use of token ", i), tok.LastUsedAt, latest.UTC())
	}

	wantNoErrors(t, meet(func(caller int) error {
		return s.Tokens.Revoke(t.Context(), nowhere, unrecorded, created[0].ID, now.Add(time.Duration(caller)*time.Hour))
	}))
	first, _, err := s.Tokens.ByHash(t.Context(), created[0].Hash)
	must(t, err)
	must(t, s.Tokens.Revoke(t.Context(), nowhere, unrecorded, created[0].ID, now.Add(-time.Hour)))
	again, _, err := s.Tokens.ByHash(t.Context(), created[0].Hash)
	must(t, err)
	want(t, "the time of the first revocation", again.RevokedAt, first.RevokedAt)
}

func pastesMeet(t *testing.T, s Store) {
	owner := storedUser(t, s, "owner")
	wantOneWinner(t, meet(func(int) error {
		return s.Pastes.CreateDocument(t.Context(),
			paste.Document{Paste: paste.Paste{ID: "wanted", Owner: owner.ID, CreatedAt: now}})
	}), fault.Conflict)
	const each = 5
	wantNoErrors(t, meet(func(caller int) error {
		for i := range each {
			id := paste.ID(fmt.Sprintf("p%d-%d", caller, i))
			if err := s.Pastes.CreateDocument(t.Context(),
				paste.Document{Paste: paste.Paste{ID: id, Owner: owner.ID, CreatedAt: now}}); err != nil {
				return err
			}
			if err := s.Pastes.Star(t.Context(), nowhere, owner.ID, id); err != nil {
				return err
			}
			if err := s.Pastes.Star(t.Context(), nowhere, owner.ID, "wanted"); err != nil {
				return err
			}
		}
		return nil
	}))
	count, err := s.Pastes.ActiveCount(t.Context())
	must(t, err)
	want(t, "pastes", count, callers*each+1)
	want(t, "ids", len(activeIDs(t, s, owner.ID)), callers*each+1)
	account, err := s.Users.AccountByID(t.Context(), owner.ID)
	must(t, err)
	stars := slices.Clone(account.Stars)
	slices.Sort(stars)
	want(t, "stars", len(stars), callers*each+1)
	want(t, "different stars", len(slices.Compact(stars)), callers*each+1)

	wantOneWinner(t, meet(func(int) error {
		return s.Pastes.Unstar(t.Context(), nowhere, owner.ID, "wanted")
	}), fault.NotFound)
	wantOneWinner(t, meet(func(int) error {
		return s.Pastes.DeleteIf(t.Context(), unrecorded, "wanted", func(paste.Paste) error { return nil })
	}), fault.NotFound)
}

// sweepersMeet has several callers sweep at once: each removes its share, and no paste is counted twice.
func sweepersMeet(t *testing.T, s Store) {
	const share, more = 7, 10
	for i := range callers*share + more {
		storedPaste(t, s, fmt.Sprint("expired", i), "", now, now)
	}
	storedPaste(t, s, "lasting", "", now, time.Time{})
	removed := make([]int, callers)
	wantNoErrors(t, meet(func(caller int) (err error) {
		removed[caller], err = s.Pastes.RemoveExpired(t.Context(), 0, share)
		return err
	}))
	for caller, n := range removed {
		want(t, fmt.Sprint("removed by caller ", caller), n, share)
	}
	n, err := s.Pastes.RemoveExpired(t.Context(), 0, 2*more)
	must(t, err)
	want(t, "removed of what they left", n, more)
	got, err := s.Stats.Totals(t.Context())
	must(t, err)
	want(t, "active", got.ActivePastes, 1)
	want(t, "expired", got.ExpiredPastes, 0)
}

// userDeletionMeets deletes a user who is imported meanwhile, and whose pastes and tokens come. All of them go with the
// user, and nothing comes back.
func userDeletionMeets(t *testing.T, s Store) {
	for round := range 5 {
		owner := storedUser(t, s, fmt.Sprint("owner", round))
		created := func(caller, i int) paste.Document {
			id := ID(fmt.Sprint("p", round, "-", caller, "-", i))
			return paste.Document{Paste: paste.Paste{ID: id, Owner: owner.ID, CreatedAt: now}}
		}
		const each = 10
		wantNoErrors(t, meet(func(caller int) error {
			if caller == 0 {
				return s.Users.Delete(t.Context(), nowhere, unrecorded, owner.ID, owner.Name, nil)
			}
			for i := range each {
				var err error
				switch one := created(caller, i); caller % 4 {
				case 0:
					err = s.Pastes.CreateDocument(t.Context(), one)
				case 1:
					var results []batch.Result
					if results, err = s.Pastes.Import(t.Context(), Whole(one), paste.RefuseOrphans); err == nil {
						if err = results[0].Err; results[0].Outcome == batch.RemovedEarlier {
							return nil
						}
					}
				case 2:
					var results []batch.Result
					results, err = s.Users.Import(t.Context(), []user.Import{importedAccount(t, owner.ID, owner.Name.String())})
					if err == nil && results[0].Outcome == batch.New {
						err = fmt.Errorf("%s: got a new user, want one who stays deleted", owner.ID)
					}
				default:
					if err = s.Pastes.Star(t.Context(), nowhere, owner.ID, one.ID); err == nil {
						err = s.Tokens.Create(
							t.Context(),
							nowhere,
							unrecorded,
							token.Token{ID: token.ID(one.ID), Owner: owner.ID, Hash: token.Generate().Hash(), CreatedAt: now},
						)
					}
				}
				if fault.Is(err, fault.NotFound) {
					return nil // the user is gone
				} else if err != nil {
					return err
				}
			}
			return nil
		}))
		again := []paste.Document{}
		expected := []string{}
		for caller := range callers {
			for i := range each {
				if caller == 0 || caller%4 > 1 {
					continue
				}
				again, expected = append(again, created(caller, i)), append(expected, removed)
			}
		}
		results, err := s.Users.Import(t.Context(), []user.Import{importedAccount(t, owner.ID, owner.Name.String())})
		wantResults(t, "an import of the user", results, err, removed)
		for _, orphans := range []paste.Orphans{paste.RefuseOrphans, paste.AnonymizeOrphans} {
			results, err := s.Pastes.Import(t.Context(), Whole(again...), orphans)
			wantResults(t, "an import after it", results, err, expected...)
		}
	}
	got, err := s.Stats.Totals(t.Context())
	must(t, err)
	want(t, "everything", got.Counts, stats.Counts{})
}

// importsMeet brings the same records in from both ends at once, together with last uses: everybody comes
// through, and every record is there once.
func importsMeet(t *testing.T, s Store) {
	const records = 60
	accounts, keys, pastes := make([]user.Import, records), make([]token.Token, records), make([]paste.Document, records)
	uses := make(map[token.ID]time.Time)
	for i := range records {
		u := importedAccount(t, user.ID(fmt.Sprint("u", i)), fmt.Sprint("user", i))
		u.Stars, u.Identities = []string{fmt.Sprint("p", i), fmt.Sprint("p", (i+1)%records)},
			map[string]string{"github": fmt.Sprint(i)}
		accounts[i] = u
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
		results[caller], err = s.Pastes.Import(t.Context(), Whole(p...), paste.RefuseOrphans)
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
