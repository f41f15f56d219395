package integration

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/contract"
	"github.com/gluepot/gluepot/tests/database"
)

// shortTime is for callers who give up, and longTime for those who do not. The store's own timeout is longer than both.
const (
	shortTime = 200 * time.Millisecond
	longTime  = time.Minute
)

// wantUnavailable checks that an error is fault.Unavailable, and came when the caller's time was up.
func wantUnavailable(t *testing.T, what string, err error, start time.Time) {
	t.Helper()
	if !fault.Is(err, fault.Unavailable) {
		t.Errorf("%s: got %v, want fault.Unavailable", what, err)
	}
	if elapsed := time.Since(start); elapsed > longTime {
		t.Errorf("%s: got the error after %v, want it after the caller's time of %v", what, elapsed, shortTime)
	}
}

func patientSQLite(t *testing.T) gormstore.Config {
	t.Helper()
	cfg := database.SQLite(t)
	cfg.ConnectTimeout = 2 * longTime
	return cfg
}

// TestSQLiteWrittenByAnother writes while another client has a long transaction. Writers must wait until the deadline
// and no longer, readers must not wait, and writing must work after the transaction.
func TestSQLiteWrittenByAnother(t *testing.T) {
	t.Parallel()
	cfg := patientSQLite(t)
	store := database.Open(t, cfg)
	users, tokens, pastes := gormstore.NewUsers(store), gormstore.NewTokens(store), gormstore.NewPastes(store)
	name, err := user.ParseName("somebody")
	if err != nil {
		t.Fatal(err)
	}
	database.CreateUser(t, store, user.User{ID: "somebody", Name: name, CreatedAt: time.Now()})
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
		"a star": func(ctx context.Context) error { return pastes.Star(ctx, netip.Addr{}, "somebody", "late") },
		"last uses": func(ctx context.Context) error {
			return tokens.SetLastUsed(ctx, map[token.ID]time.Time{"t": time.Now()})
		},
		"an import": func(ctx context.Context) error {
			document := paste.Document{Paste: paste.Paste{ID: "imported", CreatedAt: time.Now()}}
			_, err := pastes.Import(ctx, contract.Whole(document), paste.RefuseOrphans)
			return err
		},
		"a sweep": func(ctx context.Context) error {
			_, err := pastes.RemoveExpired(ctx, 0, 10)
			return err
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), shortTime)
		start := time.Now()
		wantUnavailable(t, what, write(ctx), start)
		cancel()
	}
	ctx, cancel := context.WithTimeout(t.Context(), longTime)
	defer cancel()
	results := make(chan error)
	for i := range 8 {
		go func() {
			results <- pastes.CreateDocument(ctx, paste.Document{Paste: paste.Paste{ID: paste.ID(fmt.Sprint("waited", i)),
				CreatedAt: time.Now()}})
		}()
	}
	if _, err := users.ByName(ctx, name); err != nil {
		t.Errorf("reading beside a writer: got %v, want no error", err)
	}
	exec(t, other, "COMMIT")
	for range 8 {
		if err := <-results; err != nil {
			t.Errorf("writing after the other: got %v, want no error", err)
		}
	}
}

// TestSQLiteHeldByAnother opens the file while another client has locked it exclusively. Callers must get an error when
// their time is up, and connecting must work after the lock.
func TestSQLiteHeldByAnother(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	other := database.SQL(t, cfg)
	other.SetMaxOpenConns(1)
	exec(t, other, "PRAGMA locking_mode = EXCLUSIVE")
	exec(t, other, insertPastes("id, created_at", "'mine', 1"))
	store := newStore(t, cfg)
	for what, use := range map[string]func(ctx context.Context) error{
		"connecting": store.Connect, "readiness": store.Ready,
		"migrating": func(ctx context.Context) error { _, err := store.Migrate(ctx); return err },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), shortTime)
		start := time.Now()
		wantUnavailable(t, what, use(ctx), start)
		cancel()
	}
	ctx, cancel := context.WithTimeout(t.Context(), longTime)
	defer cancel()
	result := make(chan error)
	go func() { result <- store.Connect(ctx) }()
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-result; err != nil {
		t.Errorf("connecting after the other: got %v, want no error", err)
	}
}

// TestSQLiteFileIsReplaced removes or replaces the file of a store in use. Writers must get an error at once, and
// readers within about a second, so that the store acknowledges no writes to the lost file.
func TestSQLiteFileIsReplaced(t *testing.T) {
	t.Parallel()
	for what, replace := range map[string]func(path string) error{
		"removed": os.Remove,
		"replaced": func(path string) error {
			content, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path+".new", content, 0o600)
			}
			if err == nil {
				err = os.Rename(path+".new", path)
			}
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			cfg := database.SQLite(t)
			s := openService(t, cfg)
			if err := replace(database.SQLitePath(cfg)); err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			wantReplaced := func(what string, err error) {
				t.Helper()
				if got := fault.MessageOf(err); !fault.Is(err, fault.Unavailable) || !strings.Contains(got, "replaced or removed") {
					t.Errorf("%s: got %q (%v), want a sentence about the file", what, got, err)
				}
			}
			wantReplaced("creating", s.pastes.CreateDocument(t.Context(), newDocument("lost", "epoxy", "code")))
			for deadline := start.Add(longTime); ; time.Sleep(10 * time.Millisecond) {
				_, err := s.users.ByName(t.Context(), s.name)
				if err != nil {
					t.Logf("reads fail after %v", time.Since(start))
					wantReplaced("reading", err)
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("got an answer from the lost file after %v, want none", time.Since(start))
				}
			}
			_, _, err := s.pastes.ActiveIDs(t.Context(), "epoxy", paste.Cursor{}, 10)
			wantReplaced("a list", err)
			wantReplaced("readiness", s.store.Ready(t.Context()))
		})
	}
}
