package application

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	domainstats "github.com/gluepot/gluepot/domain/stats"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

func snippet(code string) paste.Draft { return paste.Draft{Pasties: []paste.PastyDraft{{Code: &code}}} }

// paste creates one that lives for that long.
func (w *world) paste(t *testing.T, owner, life string) paste.ID {
	t.Helper()
	draft := snippet("x")
	draft.Lifetime = &life
	created, err := w.pastes.Create.Do(t.Context(), audit.Operator(), owner, draft)
	if err != nil {
		t.Fatal(err)
	}
	return created.ID
}

func TestStarsShowWhileTheirPasteDoes(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.user(t, users.CreateInput{Name: "fan"})
	fan, self := w.viewer(t, "fan"), w.users.ShowSelf
	lasting, expiring := string(w.paste(t, "", "never")), string(w.paste(t, "", "1h"))
	for _, id := range []string{expiring, lasting, "missing1", expiring} {
		if err := w.pasteStore.Star(t.Context(), netip.Addr{}, fan.User.ID, paste.ID(id)); err != nil {
			t.Fatal(err)
		}
	}
	stars := func(want ...string) {
		t.Helper()
		account, err := self.Do(t.Context(), fan)
		if err != nil || !slices.Equal(account.Stars, want) {
			t.Errorf("got %v, %v, want %v", account.Stars, err, want)
		}
	}
	stars(expiring, lasting)
	w.now = w.now.Add(time.Hour)
	stars(lasting)
	if err := w.pastes.Star.Do(t.Context(), by(fan), lasting, false); err != nil {
		t.Error(err)
	}
	stars()
}

// TestStarSeen has users who star what they may read and what they may not.
func TestStarSeen(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.user(t, users.CreateInput{Name: "fan"})
	w.user(t, users.CreateInput{Name: "owner"})
	fan, owner := w.viewer(t, "fan"), w.viewer(t, "owner")
	open := string(w.paste(t, "", "never"))
	private := snippet("x")
	private.Private = true
	made, err := w.pastes.Create.Do(t.Context(), audit.Operator(), "owner", private)
	if err != nil {
		t.Fatal(err)
	}
	shut, star := string(made.ID), w.pastes.Star
	for _, viewer := range []token.Viewer{fan, owner, fan} {
		if err := star.Do(t.Context(), by(viewer), open, true); err != nil {
			t.Error(err)
		}
	}
	if err := star.Do(t.Context(), by(owner), shut, true); err != nil {
		t.Error(err)
	}
	wantKind(t, "a visitor", star.Do(t.Context(), by(visitor), open, true), fault.Unauthenticated)
	wantKind(t, "another user's private paste", star.Do(t.Context(), by(fan), shut, true), fault.NotFound)
	wantKind(t, "no paste", star.Do(t.Context(), by(fan), "unknown0", true), fault.NotFound)
	wantKind(t, "no id", star.Do(t.Context(), by(fan), "a b", true), fault.NotFound)
	starred := func(viewer token.Viewer, want ...string) {
		t.Helper()
		found, err := w.pastes.Browse.Starred(t.Context(), viewer, "", paste.Cursor{})
		got := []string{}
		for _, listed := range found.Pastes {
			got = append(got, string(listed.ID))
		}
		slices.Sort(got)
		slices.Sort(want)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
	starred(fan, open)
	starred(owner, open, shut)
	if found, err := w.pastes.Read.Do(t.Context(), fan, open); err != nil || found.Stars != 2 || !found.Starred {
		t.Errorf("got %d stars, starred %t, %v, want 2 and the reader's among them", found.Stars, found.Starred, err)
	}
	for range 2 { // the second one changes nothing
		if err := star.Do(t.Context(), by(fan), open, false); err != nil {
			t.Error(err)
		}
	}
	starred(fan)
	for _, c := range []struct {
		viewer  token.Viewer
		starred bool
		want    int64
	}{{fan, true, 2}, {fan, true, 2}, {owner, false, 1}, {owner, false, 1}, {fan, false, 0}} {
		if got, err := star.Count(t.Context(), by(c.viewer), open, c.starred); got != c.want || err != nil {
			t.Errorf("starred %t: got %d, %v, want %d", c.starred, got, err, c.want)
		}
	}
	for _, starring := range []bool{true, false} {
		for id, viewer := range map[string]token.Viewer{shut: fan, "unknown0": fan, "a b": owner} {
			_, err := star.Count(t.Context(), by(viewer), id, starring)
			wantKind(t, "what one may not read", err, fault.NotFound)
		}
		_, err := star.Count(t.Context(), by(visitor), open, starring)
		wantKind(t, "a visitor", err, fault.Unauthenticated)
	}
	_, err = w.pastes.Browse.Starred(t.Context(), visitor, "", paste.Cursor{})
	wantKind(t, "a visitor's list", err, fault.Unauthenticated)
}

func TestDeletingPastes(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.user(t, users.CreateInput{Name: "owner"})
	second := w.paste(t, "owner", "never")
	w.paste(t, "", "never")
	remove := w.pastes.Delete
	if err := remove.Do(t.Context(), audit.Operator(), string(second)); err != nil {
		t.Error(err)
	}
	for _, id := range []string{string(second), "", "\xff"} {
		wantKind(t, "the id "+id, remove.Do(t.Context(), audit.Operator(), id), fault.NotFound)
	}
}

func TestTotals(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.user(t, users.CreateInput{Name: "owner"})
	w.token(t, "owner")
	w.paste(t, "owner", "1h")
	w.paste(t, "", "never")
	owner, err := user.Find(t.Context(), w.userStore, "owner")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.pasteStore.Star(t.Context(), netip.Addr{}, owner.ID, "missing1"); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(time.Hour)
	got, err := w.stats.Sum.Do(t.Context())
	want := domainstats.Counts{Users: 1, Tokens: 1, ActivePastes: 1, ExpiredPastes: 1, WaitingStars: 1}
	if err != nil || got.Counts != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}
