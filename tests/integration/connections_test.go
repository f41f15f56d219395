package integration

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/faultproxy"
)

// TestConnectionsThatEndWhileIdle has the server end every connection of a store that uses none of them. Nobody who asks after
// that notices.
func TestConnectionsThatEndWhileIdle(t *testing.T) {
	t.Parallel()
	s := openService(t, database.Postgres(t))
	for range 3 {
		together(t, 4, 1, func(ctx context.Context) error { _, err := s.users.ByName(ctx, s.name); return err })
		if _, err := s.db.ExecContext(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE datname = current_database() AND application_name = 'gluepot'`); err != nil {
			t.Fatal(err)
		}
		for s.sessions(t, "application_name = 'gluepot'") > 0 {
			time.Sleep(time.Millisecond)
		}
		for what, look := range s.lookups() {
			if err := look(t.Context()); err != nil {
				t.Errorf("%s: got %v, want no error", what, err)
			}
		}
	}
}

// TestConnectionLifetime asks again and again: the answers come over another connection by and by, and none is missed.
func TestConnectionLifetime(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	cfg.ConnectionMaxLifetime = 50 * time.Millisecond
	proxy, through := faultproxy.Start(t, cfg)
	s := openService(t, through)
	before := proxy.Opened()
	for deadline := time.Now().Add(requestTime); proxy.Opened() < before+3; {
		if time.Now().After(deadline) {
			t.Fatalf("got %d new connections in %v, want 3", proxy.Opened()-before, requestTime)
		}
		if _, err := s.users.ByName(t.Context(), s.name); err != nil {
			t.Fatal(err)
		}
	}
}

// TestConnectionToAFormerPrimary writes where the server refuses to: the connection is not used again.
func TestConnectionToAFormerPrimary(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	s := openService(t, cfg)
	proxy, through := faultproxy.Start(t, cfg)
	separator := "?"
	if strings.Contains(string(through.URL), "?") {
		separator = "&"
	}
	through.URL += gormstore.URL(separator + "default_transaction_read_only=on")
	through.MaxConnections = 1
	store := database.Open(t, through)
	tokens, users := gormstore.NewTokens(store), gormstore.NewUsers(store)
	for range 3 {
		if _, err := users.ByName(t.Context(), s.name); err != nil {
			t.Fatal(err)
		}
		before := proxy.Opened()
		err := tokens.Create(t.Context(), token.Token{ID: "u", Owner: "epoxy", Hash: token.Generate().Hash(), CreatedAt: time.Now()})
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("got %v, want that it is unavailable", err)
		}
		if _, err := users.ByName(t.Context(), s.name); err != nil {
			t.Error(err)
		}
		if opened := proxy.Opened() - before; opened != 1 {
			t.Errorf("got %d connections opened after the write, want 1", opened)
		}
	}
}
