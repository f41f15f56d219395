package gormstore

import (
	"path/filepath"
	"testing"
)

// TestPragmas asks every connection of the pool: a pragma in the wrong place reaches only one of them.
func TestPragmas(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	cfg.URL = URL("sqlite://" + filepath.Join(t.TempDir(), "odd name?#%20.db"))
	store, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close() //nolint:errcheck // nothing was written
	if err := store.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range maxSQLiteConnections {
		conn, err := store.sql.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close() //nolint:errcheck // they must all be open at once
		for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "3000"} {
			var got string
			if err := conn.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
				t.Errorf("%s is %q, want %q (error %v)", pragma, got, want, err)
			}
		}
	}
	if got := store.sql.Stats().OpenConnections; got != maxSQLiteConnections {
		t.Errorf("%d connections", got)
	}
}
