package integration

import (
	"context"
	"testing"
	"time"

	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/faultproxy"
)

// idle is longer than pgx trusts an unused connection without a ping.
const idle = 1100 * time.Millisecond

// TestConnectionsThatEndWhileIdle checks that lookups work after the server ended every connection of an idle store.
func TestConnectionsThatEndWhileIdle(t *testing.T) {
	t.Parallel()
	s := openService(t, database.Postgres(t))
	for range 3 {
		runCallers(t, 4, 1, func(ctx context.Context) error { _, err := s.users.ByName(ctx, s.name); return err })
		for deadline := time.Now().Add(patience); s.sessions(t,
			"application_name = 'gluepot'") > 0; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("got sessions that do not end, want none")
			}
			exec(t, s.db, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
				WHERE datname = current_database() AND application_name = 'gluepot'`)
		}
		time.Sleep(idle)
		for what, look := range s.lookups() {
			if err := look(t.Context()); err != nil {
				t.Errorf("%s: got %v, want no error", what, err)
			}
		}
	}
}

// TestConnectionLifetime checks that connections are replaced after their lifetime, without a failing lookup.
func TestConnectionLifetime(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	cfg.ConnectionMaxLifetime = 50 * time.Millisecond
	proxy, through := faultproxy.Start(t, cfg)
	s := openService(t, through)
	before := proxy.Opened()
	for deadline := time.Now().Add(patience); proxy.Opened() < before+3; {
		if time.Now().After(deadline) {
			t.Fatalf("got %d new connections in %v, want 3", proxy.Opened()-before, patience)
		}
		if _, err := s.users.ByName(t.Context(), s.name); err != nil {
			t.Fatal(err)
		}
	}
}
