package db

import (
	"errors"
	"path/filepath"
	"testing"

	"gorm.io/gorm"
)

// TestPragmas checks the pragmas of connections that read, and of the one that writes.
func TestPragmas(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	cfg.URL = "sqlite://" + filepath.Join(t.TempDir(), "gluepot.db")
	store, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	if err := errors.Join(store.Create(t.Context()), store.Connect(t.Context())); err != nil {
		t.Fatal(err)
	}
	for who, db := range map[string]*gorm.DB{"reader": store.reader, "writer": store.writer} {
		want := map[string]string{
			"journal_mode": "wal", "busy_timeout": "3000", "foreign_keys": "1", "query_only": "1",
		}
		if who == "writer" {
			want["query_only"], want["synchronous"], want["secure_delete"] = "0", "2", "1"
		}
		for pragma, value := range want {
			var got string
			if err := db.Raw("PRAGMA " + pragma).Row().Scan(&got); err != nil || got != value {
				t.Errorf("%s: got %s = %q, error %v, want %q", who, pragma, got, err, value)
			}
		}
	}
}
