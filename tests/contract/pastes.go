package contract

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// ID shortens the suites.
type ID = paste.ID

func activeIDs(t *testing.T, s Store, owner user.ID) []string {
	t.Helper()
	ids := []string{}
	must(t, s.Pastes.EachActiveID(t.Context(), owner, func(id paste.ID) error {
		ids = append(ids, string(id))
		return nil
	}))
	return ids
}

func ownPastes(t *testing.T, s Store) {
	owner, other := storedUser(t, s, "owner"), storedUser(t, s, "other")
	storedPaste(t, s, "old", owner.ID, now.Add(-time.Hour), time.Time{})
	storedPaste(t, s, "tie-a", owner.ID, now, time.Time{})
	storedPaste(t, s, "tie-B", owner.ID, now, time.Time{})
	storedPaste(t, s, "tie-c", owner.ID, now, later)
	storedPaste(t, s, "new", owner.ID, now.Add(time.Microsecond), time.Time{})
	storedPaste(t, s, "expired", owner.ID, now.Add(-time.Hour), now.Add(-time.Minute))
	storedPaste(t, s, "others", other.ID, now, time.Time{})
	storedPaste(t, s, "nobodys", "", now, time.Time{})
	wanted := []string{"new", "tie-c", "tie-a", "tie-B", "old"}
	if got := activeIDs(t, s, owner.ID); !slices.Equal(got, wanted) {
		t.Errorf("got %v, want %v", got, wanted)
	}
}

// heldPastes has holders of different pastes ask at once.
func heldPastes(t *testing.T, s Store) {
	const holders = 8
	made := make([]token.Token, holders)
	wanted := make([][]string, holders)
	for i := range made {
		owner := storedUser(t, s, fmt.Sprintf("owner%d", i))
		made[i] = storedToken(t, s, owner.ID)
		for n := range i {
			storedPaste(t, s, fmt.Sprintf("p%d-%d", i, n), owner.ID, now.Add(time.Duration(n%3)*time.Microsecond), time.Time{})
		}
		storedPaste(t, s, fmt.Sprintf("expired%d", i), owner.ID, now.Add(-time.Hour), now.Add(-time.Minute))
		wanted[i] = activeIDs(t, s, owner.ID)
		want(t, "pastes", len(wanted[i]), i)
	}
	must(t, s.Tokens.Revoke(t.Context(), made[0].ID, now))
	unknown := token.Generate().Hash()
	var asking sync.WaitGroup
	for i := range 4 * holders {
		asking.Go(func() {
			i := i % holders
			holder, ids, all, err := s.Pastes.HeldIDs(t.Context(), made[i].Hash)
			got := []string{}
			for _, id := range ids {
				got = append(got, string(id))
			}
			all = all || i == 0 // of a token that is revoked it need not say
			if err != nil || !all || ids == nil && i != 0 || !slices.Equal(got, wanted[i]) ||
				holder.ID != made[i].ID || holder.Owner != made[i].Owner {
				t.Errorf("got the token %v, %v, all %v, error %v, want %v and %v", holder.ID, got, all, err, made[i].ID, wanted[i])
			}
			if holder.RevokedAt.IsZero() != (i != 0) {
				t.Errorf("token %d: got revoked at %v, want that of the first only", i, holder.RevokedAt)
			}
		})
		asking.Go(func() {
			_, _, _, err := s.Pastes.HeldIDs(t.Context(), unknown)
			if !fault.Is(err, fault.NotFound) {
				t.Errorf("an unknown token: got %v, want %v", err, fault.NotFound)
			}
		})
	}
	asking.Wait()
	_, _, _, err := s.Pastes.HeldIDs(cancelled(t), made[1].Hash)
	wantKind(t, err, fault.Unavailable)
}

// manyHeldPastes adds pastes until there are more than the store reads with the token.
func manyHeldPastes(t *testing.T, s Store) {
	const most = 150
	owner := storedUser(t, s, "owner")
	made := storedToken(t, s, owner.ID)
	for stored := range most {
		holder, ids, all, err := s.Pastes.HeldIDs(t.Context(), made.Hash)
		must(t, err)
		want(t, "owner", holder.Owner, owner.ID)
		if !all {
			want(t, "ids of some", len(ids), 0)
			return
		}
		want(t, "ids", len(ids), stored)
		storedPaste(t, s, fmt.Sprintf("p%d", stored), owner.ID, now, time.Time{})
	}
	t.Errorf("got all ids of %d, want fewer to be many", most)
}

// titledPastes takes public ones and all of them in pieces of every length.
func titledPastes(t *testing.T, s Store) {
	owner, other := storedUser(t, s, "owner"), storedUser(t, s, "other")
	store := func(id string, owner user.ID, created, expires time.Time, change func(*paste.Content)) {
		t.Helper()
		made := paste.Document{Paste: paste.Paste{ID: ID(id), Owner: owner, CreatedAt: created, ExpiresAt: expires}}
		made.Title, made.Visibility, made.Lifetime = "title of "+id+"\x00", paste.Public, paste.Never
		made.Pasties = []paste.Pasty{{ID: "p", Code: "x"}}
		if change != nil {
			change(&made.Content)
		}
		must(t, s.Pastes.CreateDocument(t.Context(), made))
	}
	store("old", owner.ID, now.Add(-time.Hour), time.Time{}, nil)
	store("tie-a", owner.ID, now, later, nil)
	store("tie-B", owner.ID, now, time.Time{}, func(c *paste.Content) { c.Title = strings.Repeat("é", 5000) })
	store("new", owner.ID, now.Add(time.Microsecond), time.Time{}, func(c *paste.Content) { c.Title = "" })
	store("unlisted", owner.ID, now, time.Time{}, func(c *paste.Content) { c.Visibility = paste.Unlisted })
	store("private", owner.ID, now, time.Time{}, func(c *paste.Content) { c.Visibility = paste.Private })
	store("expired", owner.ID, now.Add(-time.Hour), now.Add(-time.Minute), nil)
	store("before1970", owner.ID, time.UnixMicro(-1), time.Time{}, nil)
	store("year1", owner.ID, time.UnixMicro(0).AddDate(-1969, 0, 1), time.Time{}, nil)
	store("others", other.ID, now, time.Time{}, nil)
	storedPaste(t, s, "empty", owner.ID, now, time.Time{})
	store("sealed", owner.ID, now, time.Time{}, func(c *paste.Content) {
		c.Title, c.Pasties, c.Cipher = "", nil, &paste.Cipher{Data: []byte{1}, Key: []byte{2}, Salt: []byte{3}}
	})
	public := func(ctx context.Context, owner user.ID, after paste.Place, limit int) ([]paste.Listed, error) {
		return s.Pastes.PublicByOwner(ctx, owner, after, limit)
	}
	all := func(ctx context.Context, owner user.ID, after paste.Place, limit int) ([]paste.Listed, error) {
		return s.Pastes.TitlesByOwner(ctx, owner, after, limit)
	}
	listings{public, []string{"new", "tie-a", "tie-B", "old", "before1970", "year1"}}.check(t, owner.ID)
	listings{all, []string{"new", "unlisted", "tie-a", "tie-B", "private", "empty", "old", "before1970", "year1"}}.check(t, owner.ID)
}

// listings are what a method lists of an owner's pastes, and what is wanted of it.
type listings struct {
	list   func(ctx context.Context, owner user.ID, after paste.Place, limit int) ([]paste.Listed, error)
	wanted []string
}

func (l listings) check(t *testing.T, owner user.ID) {
	t.Helper()
	for limit := 1; limit <= len(l.wanted)+1; limit++ {
		got, after := []string{}, paste.Place{}
		for {
			listed, err := l.list(t.Context(), owner, after, limit)
			must(t, err)
			if len(listed) > limit || listed == nil {
				t.Fatalf("got %d, nil: %v, want at most %d", len(listed), listed == nil, limit)
			}
			for _, one := range listed {
				after = one.Place()
				got = append(got, string(one.ID))
				switch title := one.Title; one.ID {
				case "new", "empty":
					want(t, "title", title, "")
				case "tie-B":
					if !strings.HasPrefix(title, strings.Repeat("é", paste.MaxTitle)) || !utf8.ValidString(title) {
						t.Errorf("got a title of %d bytes, want at least its first %d characters", len(title), paste.MaxTitle)
					}
				default:
					want(t, "title", title, "title of "+string(one.ID)+"\x00")
				}
				want(t, "owner", one.Owner, owner)
				visibility := map[paste.ID]paste.Visibility{"unlisted": paste.Unlisted, "empty": paste.Unlisted, "private": paste.Private}
				shown, ok := visibility[one.ID]
				if !ok {
					shown = paste.Public
				}
				want(t, "visibility of "+string(one.ID), one.Visibility, shown)
			}
			if len(listed) < limit {
				break
			}
		}
		if !slices.Equal(got, l.wanted) {
			t.Errorf("%d at once: got %v, want %v", limit, got, l.wanted)
		}
	}
	for _, nobody := range []user.ID{"unknown", ""} {
		listed, err := l.list(t.Context(), nobody, paste.Place{}, 1)
		must(t, err)
		want(t, "pastes of nobody", len(listed), 0)
	}
	_, err := l.list(cancelled(t), owner, paste.Place{}, 1)
	wantKind(t, err, fault.Unavailable)
}

func noPastes(t *testing.T, s Store) {
	storedPaste(t, s, "nobodys", "", now, time.Time{})
	want(t, "pastes", len(activeIDs(t, s, storedUser(t, s, "owner").ID)), 0)
	want(t, "pastes of an unknown user", len(activeIDs(t, s, "unknown")), 0)
}

func visitorError(t *testing.T, s Store) {
	owner := storedUser(t, s, "owner")
	for i := range 3 {
		storedPaste(t, s, fmt.Sprint(i), owner.ID, now, time.Time{})
	}
	stop, visits := errors.New("enough"), 0
	err := s.Pastes.EachActiveID(t.Context(), owner.ID, func(paste.ID) error {
		visits++
		return stop
	})
	if !errors.Is(err, stop) || visits != 1 {
		t.Errorf("got %d visits and the error %v, want 1 and %v", visits, err, stop)
	}
}

// expiryInstant asks without a pause while a paste expires. Every answer from before the instant has it and
// none from after; the store's clock may be another one than the test's, on the same machine.
func expiryInstant(t *testing.T, s Store) {
	const expiring = 300 * time.Millisecond
	owner := storedUser(t, s, "owner")
	made := storedToken(t, s, owner.ID)
	expiry := time.Now().Add(expiring).Truncate(time.Microsecond)
	must(t, s.Pastes.Star(t.Context(), owner.ID, storedPaste(t, s, "expiring", owner.ID, now, expiry)))
	for asked := time.Now(); asked.Before(expiry.Add(expiring)); asked = time.Now() {
		listed := len(activeIDs(t, s, owner.ID))
		count, err := s.Pastes.ActiveCount(t.Context())
		must(t, err)
		_, account, err := s.Tokens.AccountByHash(t.Context(), made.Hash)
		must(t, err)
		answered := time.Now()
		got := [...]int{listed, int(count), len(account.Stars)}
		if answered.Before(expiry) && got != [...]int{1, 1, 1} || !asked.Before(expiry) && got != [...]int{0, 0, 0} {
			t.Fatalf("asked %v before the expiry and answered %v before it: "+
				"got %v (listed, counted, starred), want one each before it and none after it", expiry.Sub(asked), expiry.Sub(answered), got)
		}
	}
}

func counts(t *testing.T, s Store) {
	count := func(wanted int64) {
		t.Helper()
		got, err := s.Pastes.ActiveCount(t.Context())
		must(t, err)
		want(t, "count", got, wanted)
	}
	count(0)
	storedPaste(t, s, "one", "", now, time.Time{})
	storedPaste(t, s, "two", storedUser(t, s, "owner").ID, now, later)
	count(2)
	storedPaste(t, s, "expired", "", now.Add(-time.Hour), now)
	count(2)
	if _, err := s.Pastes.RemoveExpired(t.Context(), 0, 10); err != nil {
		t.Fatal(err)
	}
	count(2)
}

func pasteConflicts(t *testing.T, s Store) {
	id := storedPaste(t, s, "one", "", now, time.Time{})
	wantIDTaken(t, s.Pastes.CreateDocument(t.Context(), paste.Document{Paste: paste.Paste{ID: id, CreatedAt: now}}))
	orphan := paste.Document{Paste: paste.Paste{ID: "two", Owner: "unknown", CreatedAt: now}}
	wantKind(t, s.Pastes.CreateDocument(t.Context(), orphan), fault.NotFound)
	count, err := s.Pastes.ActiveCount(t.Context())
	must(t, err)
	want(t, "count", count, 1)
}

func removeExpired(t *testing.T, s Store) {
	owner := storedUser(t, s, "owner")
	storedPaste(t, s, "never", owner.ID, now, time.Time{})
	storedPaste(t, s, "later", owner.ID, now, later)
	storedPaste(t, s, "fresh", owner.ID, now, time.Now().Add(-time.Hour)) // within the grace
	for i := range 5 {
		storedPaste(t, s, fmt.Sprint("expired", i), owner.ID, now.Add(-time.Hour), time.Now().Add(-time.Duration(3+i)*time.Hour))
	}
	stored := func() int64 {
		t.Helper()
		totals, err := s.Stats.Totals(t.Context())
		must(t, err)
		want(t, "active", totals.ActivePastes, 2)
		return totals.ActivePastes + totals.ExpiredPastes
	}
	want(t, "stored", stored(), 8)
	left := int64(8)
	for _, wanted := range []int{3, 2, 0} {
		removed, err := s.Pastes.RemoveExpired(t.Context(), 2*time.Hour, 3)
		must(t, err)
		want(t, "removed", removed, wanted)
		left -= int64(wanted)
		want(t, "stored", stored(), left)
	}
	removed, err := s.Pastes.RemoveExpired(t.Context(), 0, 3)
	must(t, err)
	want(t, "removed without a grace", removed, 1)
	if got, wanted := activeIDs(t, s, owner.ID), []string{"never", "later"}; !slices.Equal(got, wanted) {
		t.Errorf("left %v, want %v", got, wanted)
	}
}

func starOrder(t *testing.T, s Store) {
	owner := storedUser(t, s, "owner")
	made := storedToken(t, s, owner.ID)
	for _, id := range []string{"b", "c", "a"} {
		storedPaste(t, s, id, "", now, time.Time{})
		must(t, s.Pastes.Star(t.Context(), owner.ID, ID(id)))
	}
	must(t, s.Pastes.Star(t.Context(), owner.ID, "b")) // again
	_, account, err := s.Tokens.AccountByHash(t.Context(), made.Hash)
	must(t, err)
	if wanted := []string{"b", "c", "a"}; !slices.Equal(account.Stars, wanted) {
		t.Errorf("got %v, want %v", account.Stars, wanted)
	}
	wantKind(t, s.Pastes.Star(t.Context(), "unknown", "b"), fault.NotFound)
}

func cancelledPaste(t *testing.T, s Store) {
	_, err := s.Pastes.ActiveCount(cancelled(t))
	wantKind(t, err, fault.Unavailable)
	_, err = s.Pastes.RemoveExpired(cancelled(t), 0, 1)
	wantKind(t, err, fault.Unavailable)
	err = s.Pastes.EachActiveID(cancelled(t), "owner", func(paste.ID) error { return nil })
	wantKind(t, err, fault.Unavailable)
}
