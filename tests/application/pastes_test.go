package application

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	domainstats "github.com/gluepot/gluepot/domain/stats"
)

// paste creates one that lives for that long, or for good.
func (w *world) paste(t *testing.T, owner string, life time.Duration) paste.ID {
	t.Helper()
	created, err := w.pastes.Create.Do(t.Context(), owner, life, snippet("x"))
	if err != nil {
		t.Fatal(err)
	}
	return created.ID
}

func TestStarsShowWhileTheirPasteDoes(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.user(t, users.CreateInput{Name: "fan"})
	secret := w.token(t, "fan")
	self := w.users.ShowSelf
	star, unstar := w.pastes.Star, w.pastes.Unstar
	lasting, expiring := string(w.paste(t, "", 0)), string(w.paste(t, "", time.Minute))
	for _, id := range []string{expiring, lasting, "missing1", expiring} {
		if err := star.Do(t.Context(), "FAN", id); err != nil {
			t.Fatal(err)
		}
	}
	stars := func(want ...string) {
		t.Helper()
		account, err := self.Do(t.Context(), secret.Reveal())
		if err != nil || !slices.Equal(account.Stars, want) {
			t.Errorf("got %v, %v, want %v", account.Stars, err, want)
		}
	}
	stars(expiring, lasting)
	w.now = w.now.Add(time.Minute)
	stars(lasting)
	if err := unstar.Do(t.Context(), "fan", lasting); err != nil {
		t.Error(err)
	}
	stars()
	wantKind(t, "no such star", unstar.Do(t.Context(), "fan", lasting), fault.NotFound)
	wantKind(t, "nobody's star", unstar.Do(t.Context(), "nobody", expiring), fault.NotFound)
	wantKind(t, "an impossible name", unstar.Do(t.Context(), "", expiring), fault.Invalid)
	wantKind(t, "an impossible id", star.Do(t.Context(), "fan", "a b"), fault.Invalid)
	wantKind(t, "a star of nobody", star.Do(t.Context(), "nobody", lasting), fault.NotFound)
}

func TestListingAndDeletingPastes(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.user(t, users.CreateInput{Name: "owner"})
	first := w.paste(t, "owner", time.Minute)
	w.now = w.now.Add(time.Hour)
	second := w.paste(t, "owner", 0)
	w.paste(t, "", 0)
	list, remove := w.pastes.List, w.pastes.Delete
	listed := func(want ...paste.ID) {
		t.Helper()
		var got []paste.ID
		err := list.Do(t.Context(), "owner", func(p paste.Paste) error { got = append(got, p.ID); return nil })
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
	listed(second, first) // an operator sees what has expired
	if err := remove.Do(t.Context(), string(second)); err != nil {
		t.Error(err)
	}
	listed(first)
	for _, id := range []string{string(second), "", "\xff"} {
		wantKind(t, "the id "+id, remove.Do(t.Context(), id), fault.NotFound)
	}
	enough := errors.New("enough")
	if err := list.Do(t.Context(), "owner", func(paste.Paste) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("got %v, want the visitor's error", err)
	}
	wantKind(t, "nobody", list.Do(t.Context(), "nobody", nil), fault.NotFound)
	wantKind(t, "an impossible name", list.Do(t.Context(), "-", nil), fault.Invalid)
}

func TestTotals(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.user(t, users.CreateInput{Name: "owner"})
	w.token(t, "owner")
	w.paste(t, "owner", time.Minute)
	w.paste(t, "", 0)
	if err := w.pastes.Star.Do(t.Context(), "owner", "missing1"); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(time.Minute)
	got, err := w.stats.Sum.Do(t.Context())
	if want := (domainstats.Totals{Users: 1, Tokens: 1, ActivePastes: 1, ExpiredPastes: 1, WaitingStars: 1}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}
