package integration

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/database"
)

// Times for callers who give up, and for what must be over long before: the store's own patience is longer than both.
const (
	shortTime = 200 * time.Millisecond
	longTime  = 20 * time.Second
)

// wantUnavailable fails the test unless the error is one, and came when the caller's time was up.
func wantUnavailable(t *testing.T, what string, err error, started time.Time) {
	t.Helper()
	if !fault.Is(err, fault.Unavailable) {
		t.Errorf("%s: got %v, want it to be unavailable", what, err)
	}
	if took := time.Since(started); took > longTime {
		t.Errorf("%s: got it after %v, want it when its caller's time of %v is up", what, took, shortTime)
	}
}

func patientSQLite(t *testing.T) gormstore.Config {
	t.Helper()
	cfg := database.SQLite(t)
	cfg.ConnectTimeout = 2 * longTime
	return cfg
}

// TestSQLiteWrittenByAnother has another process in the middle of a long transaction: whoever wants to write waits
// until the deadline and no longer, whoever reads does not wait, and writing goes on when the other is done.
func TestSQLiteWrittenByAnother(t *testing.T) {
	t.Parallel()
	cfg := patientSQLite(t)
	store := database.Open(t, cfg)
	users, tokens, pastes := gormstore.NewUsers(store), gormstore.NewTokens(store), gormstore.NewPastes(store)
	name, err := user.ParseName("somebody")
	if err != nil {
		t.Fatal(err)
	}
	if err := users.Create(t.Context(), user.User{ID: "somebody", Name: name, CreatedAt: time.Now()}, nil); err != nil {
		t.Fatal(err)
	}
	other, err := database.SQL(t, cfg).Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close() //nolint:errcheck // the test has ended
	exec(t, other, "BEGIN IMMEDIATE")

	for what, write := range map[string]func(ctx context.Context) error{
		"a paste": func(ctx context.Context) error {
			return pastes.CreateDocument(ctx, paste.Document{Paste: paste.Paste{ID: "late", CreatedAt: time.Now()}})
		},
		"a star": func(ctx context.Context) error { return pastes.Star(ctx, "somebody", "late") },
		"last uses": func(ctx context.Context) error {
			return tokens.SetLastUsed(ctx, map[token.ID]time.Time{"t": time.Now()})
		},
		"an import": func(ctx context.Context) error {
			imported := paste.Document{Paste: paste.Paste{ID: "imported", CreatedAt: time.Now()}}
			_, err := pastes.Import(ctx, []paste.Document{imported}, paste.RefuseOrphans)
			return err
		},
		"a sweep": func(ctx context.Context) error {
			_, err := pastes.RemoveExpired(ctx, 0, 10)
			return err
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), shortTime)
		started := time.Now()
		wantUnavailable(t, what, write(ctx), started)
		cancel()
	}
	ctx, cancel := context.WithTimeout(t.Context(), longTime)
	defer cancel()
	waiting := make(chan error)
	for i := range 8 {
		go func() {
			waiting <- pastes.CreateDocument(ctx, paste.Document{Paste: paste.Paste{ID: paste.ID(fmt.Sprint("waited", i)), CreatedAt: time.Now()}})
		}()
	}
	if _, err := users.ByName(ctx, name); err != nil {
		t.Errorf("reading beside a writer: got %v, want no error", err)
	}
	exec(t, other, "COMMIT")
	for range 8 {
		if err := <-waiting; err != nil {
			t.Errorf("writing after the other: got %v, want no error", err)
		}
	}
}

// TestSQLiteHeldByAnother has another process that lets nobody else near the file.
func TestSQLiteHeldByAnother(t *testing.T) {
	t.Parallel()
	cfg := patientSQLite(t)
	other := database.SQL(t, cfg)
	other.SetMaxOpenConns(1)
	exec(t, other, "PRAGMA locking_mode = EXCLUSIVE")
	exec(t, other, "INSERT INTO pastes (id, created_at) VALUES ('mine', 1)")
	store, err := gormstore.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close() //nolint:errcheck // nothing was written
	for what, use := range map[string]func(ctx context.Context) error{"connecting": store.Connect, "migrating": store.Migrate,
		"readiness": store.Ready} {
		ctx, cancel := context.WithTimeout(t.Context(), shortTime)
		started := time.Now()
		wantUnavailable(t, what, use(ctx), started)
		cancel()
	}
	ctx, cancel := context.WithTimeout(t.Context(), longTime)
	defer cancel()
	waiting := make(chan error)
	go func() { waiting <- store.Connect(ctx) }()
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-waiting; err != nil {
		t.Errorf("connecting after the other: got %v, want no error", err)
	}
}
