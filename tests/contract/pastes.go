package contract

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// ID shortens the suites.
type ID = paste.ID

func idsAt(t *testing.T, s Store, owner user.ID, at time.Time) []string {
	t.Helper()
	ids := []string{}
	must(t, s.Pastes.EachActiveID(t.Context(), owner, at, func(id []byte) error {
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
	storedPaste(t, s, "tie-c", owner.ID, now, now.Add(time.Hour))
	storedPaste(t, s, "new", owner.ID, now.Add(time.Microsecond), time.Time{})
	storedPaste(t, s, "expired", owner.ID, now.Add(-time.Hour), now.Add(-time.Minute))
	storedPaste(t, s, "others", other.ID, now, time.Time{})
	storedPaste(t, s, "nobodys", "", now, time.Time{})
	wanted := []string{"new", "tie-c", "tie-a", "tie-B", "old"}
	if got := idsAt(t, s, owner.ID, now); !slices.Equal(got, wanted) {
		t.Errorf("got %v, want %v", got, wanted)
	}
}

func noPastes(t *testing.T, s Store) {
	storedPaste(t, s, "nobodys", "", now, time.Time{})
	want(t, "pastes", len(idsAt(t, s, storedUser(t, s, "owner").ID, now)), 0)
	want(t, "pastes of an unknown user", len(idsAt(t, s, "unknown", now)), 0)
}

func visitorError(t *testing.T, s Store) {
	owner := storedUser(t, s, "owner")
	for i := range 3 {
		storedPaste(t, s, fmt.Sprint(i), owner.ID, now, time.Time{})
	}
	stop, visits := errors.New("enough"), 0
	err := s.Pastes.EachActiveID(t.Context(), owner.ID, now, func([]byte) error {
		visits++
		return stop
	})
	if !errors.Is(err, stop) || visits != 1 {
		t.Errorf("%d visits and the error %v", visits, err)
	}
}

func expiryInstant(t *testing.T, s Store) {
	owner := storedUser(t, s, "owner")
	storedPaste(t, s, "expiring", owner.ID, now, now.Add(time.Hour))
	for _, moment := range []struct {
		at     time.Time
		active int
	}{
		{now.Add(time.Hour - time.Microsecond), 1},
		{now.Add(time.Hour), 0},
		{now.Add(time.Hour + time.Microsecond), 0},
	} {
		want(t, "listed", len(idsAt(t, s, owner.ID, moment.at)), moment.active)
		count, err := s.Pastes.ActiveCount(t.Context(), moment.at)
		must(t, err)
		want(t, "counted", count, int64(moment.active))
	}
}

func counts(t *testing.T, s Store) {
	count := func(wanted int64) {
		t.Helper()
		got, err := s.Pastes.ActiveCount(t.Context(), now)
		must(t, err)
		want(t, "count", got, wanted)
	}
	count(0)
	storedPaste(t, s, "one", "", now, time.Time{})
	storedPaste(t, s, "two", storedUser(t, s, "owner").ID, now, now.Add(time.Hour))
	count(2)
	storedPaste(t, s, "expired", "", now.Add(-time.Hour), now.Add(-time.Microsecond))
	count(2)
	if _, err := s.Pastes.RemoveExpired(t.Context(), now, 10); err != nil {
		t.Fatal(err)
	}
	count(2)
}

func pasteConflicts(t *testing.T, s Store) {
	id := storedPaste(t, s, "one", "", now, time.Time{})
	wantKind(t, s.Pastes.Create(t.Context(), paste.Paste{ID: id, CreatedAt: now}), fault.Conflict)
	wantKind(t, s.Pastes.Create(t.Context(), paste.Paste{ID: "two", Owner: "unknown", CreatedAt: now}), fault.NotFound)
	count, err := s.Pastes.ActiveCount(t.Context(), now)
	must(t, err)
	want(t, "count", count, 1)
}

func removeExpired(t *testing.T, s Store) {
	owner := storedUser(t, s, "owner")
	storedPaste(t, s, "never", owner.ID, now, time.Time{})
	storedPaste(t, s, "later", owner.ID, now, now.Add(time.Microsecond))
	for i := range 5 {
		storedPaste(t, s, fmt.Sprint("expired", i), owner.ID, now.Add(-time.Hour), now.Add(-time.Duration(i)*time.Minute))
	}
	for _, wanted := range []int{3, 2, 0} {
		removed, err := s.Pastes.RemoveExpired(t.Context(), now, 3)
		must(t, err)
		want(t, "removed", removed, wanted)
	}
	if got, wanted := idsAt(t, s, owner.ID, now.Add(-24*time.Hour)), []string{"never", "later"}; !slices.Equal(got, wanted) {
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
	_, account, err := s.Tokens.AccountByHash(t.Context(), made.Hash, now)
	must(t, err)
	if wanted := []string{"b", "c", "a"}; !slices.Equal(account.Stars, wanted) {
		t.Errorf("got %v, want %v", account.Stars, wanted)
	}
	wantKind(t, s.Pastes.Star(t.Context(), "unknown", "b"), fault.NotFound)
}

func cancelledPaste(t *testing.T, s Store) {
	_, err := s.Pastes.ActiveCount(cancelled(t), now)
	wantKind(t, err, fault.Unavailable)
	_, err = s.Pastes.RemoveExpired(cancelled(t), now, 1)
	wantKind(t, err, fault.Unavailable)
	err = s.Pastes.EachActiveID(cancelled(t), "owner", now, func([]byte) error { return nil })
	wantKind(t, err, fault.Unavailable)
}
