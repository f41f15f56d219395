package gormstore

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// TestExpiryInstant judges a paste on SQLite a microsecond before it expires, when it does, and after.
func TestExpiryInstant(t *testing.T) {
	t.Parallel()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	cfg := DefaultConfig()
	cfg.URL = URL("sqlite://" + filepath.Join(t.TempDir(), "gluepot.db"))
	store, err := New(cfg)
	must(err)
	defer store.Close() //nolint:errcheck // the test has ended
	must(store.Create())
	must(store.Connect(t.Context()))
	must(store.Migrate(t.Context()))
	users, tokens, pastes, stats := NewUsers(store), NewTokens(store), NewPastes(store), NewStats(store)

	expiry := time.Date(2024, 2, 29, 12, 30, 15, 123456000, time.UTC)
	name, err := user.ParseName("owner")
	must(err)
	must(users.Create(t.Context(), user.User{ID: "owner", Name: name, CreatedAt: expiry}, nil))
	hash := token.Generate().Hash()
	must(tokens.Create(t.Context(), token.Token{ID: "t", Owner: "owner", Hash: hash, CreatedAt: expiry}))
	must(pastes.CreateDocument(t.Context(), paste.Document{Paste: paste.Paste{ID: "p", Owner: "owner", CreatedAt: expiry, ExpiresAt: expiry}}))
	must(pastes.Star(t.Context(), "owner", "p"))
	for _, moment := range []struct {
		after  time.Duration
		active int
	}{
		{-time.Microsecond, 1}, {0, 0}, {time.Microsecond, 0},
	} {
		store.clock = func() time.Time { return expiry.Add(moment.after) }
		listed := 0
		must(pastes.EachActiveID(t.Context(), "owner", func(paste.ID) error { listed++; return nil }))
		_, held, _, err := pastes.HeldIDs(t.Context(), hash)
		must(err)
		count, err := pastes.ActiveCount(t.Context())
		must(err)
		_, account, err := tokens.AccountByHash(t.Context(), hash)
		must(err)
		totals, err := stats.Totals(t.Context())
		must(err)
		got := [...]int{listed, len(held), int(count), len(account.Stars), int(totals.ActivePastes), 1 - int(totals.ExpiredPastes)}
		if got != [...]int{moment.active, moment.active, moment.active, moment.active, moment.active, moment.active} {
			t.Errorf("%v after the expiry: got %v (listed, listed with the token, counted, starred, in the totals, not expired there), want %d each",
				moment.after, got, moment.active)
		}
	}
	for _, moment := range []struct {
		after   time.Duration
		removed int
	}{
		{time.Hour - time.Microsecond, 0}, {time.Hour, 1},
	} {
		store.clock = func() time.Time { return expiry.Add(moment.after) }
		if removed, err := pastes.RemoveExpired(t.Context(), time.Hour, 10); removed != moment.removed || err != nil {
			t.Errorf("%v after the expiry: got %d removed, error %v, want %d", moment.after, removed, err, moment.removed)
		}
	}
}
