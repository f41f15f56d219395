package integration

import (
	"context"
	"testing"
	"time"

	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/faultproxy"
)

// idle is how long pgx takes a connection for good that was not used.
const idle = 1100 * time.Millisecond

// TestConnectionsThatEndWhileIdle has the server end every connection of a store that uses none of them. Those who ask
// a moment later do not notice.
func TestConnectionsThatEndWhileIdle(t *testing.T) {
	t.Parallel()
	s := openService(t, database.Postgres(t))
	for range 3 {
		together(t, 4, 1, func(ctx context.Context) error { _, err := s.users.ByName(ctx, s.name); return err })
		for deadline := time.Now().Add(patience); s.sessions(t,
			"application_name = 'gluepot'") > 0; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the store's sessions do not end")
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

// TestConnectionLifetime asks again and again: the answers come over another connection by and by, and none is missed.
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
