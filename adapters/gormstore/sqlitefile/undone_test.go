package sqlitefile_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore/db"
	"github.com/gluepot/gluepot/adapters/gormstore/sqlitefile"
)

// TestUndoAgainKeepsTheLock checks that no other process can write after a restore has compared the data.
func TestUndoAgainKeepsTheLock(t *testing.T) {
	t.Parallel()
	paths := make([]string, 2)
	for i := range paths {
		paths[i] = filepath.Join(t.TempDir(), "gluepot.db")
		cfg := db.DefaultConfig()
		cfg.URL = "sqlite://" + paths[i]
		store, err := db.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := store.BringUpToDate(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
	}
	file, err := sqlitefile.Open(paths[0], "rw", time.Second)
	if err != nil {
		t.Fatal(err)
	}
	other, err := sqlitefile.Open(paths[0], "rw", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close() //nolint:errcheck // nothing was written
	if err := sqlitefile.AttachRestored(t.Context(), file, paths[1]); err != nil {
		t.Fatal(err)
	}
	if err := sqlitefile.CloseLog(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	changes, err := sqlitefile.UndoAgain(t.Context(), file)
	if err != nil || len(changes) > 0 {
		t.Fatalf("got %v, error %v, want none", changes, err)
	}
	const write = "UPDATE installation SET uid = 'x'"
	if _, err := other.ExecContext(t.Context(), write); err == nil {
		t.Error("got a write beside the restore, want none")
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := other.ExecContext(t.Context(), write); err != nil {
		t.Errorf("after the restore: got %v, want no error", err)
	}
}
