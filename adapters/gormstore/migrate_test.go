package gormstore

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestMigrationLockOfOneFile opens a file by several paths: whoever migrates it keeps everybody else from it.
func TestMigrationLockOfOneFile(t *testing.T) {
	t.Parallel()
	_, path := newFileStore(t)
	folder := filepath.Dir(path)
	if err := os.Symlink(path, path+".link"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(folder, filepath.Join(folder, "folder")); err != nil {
		t.Fatal(err)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	relative, err := filepath.Rel(here, path)
	if err != nil {
		t.Fatal(err)
	}
	lockOf := func(path string) *sqliteLock {
		cfg := DefaultConfig()
		cfg.URL = URL("sqlite://" + path)
		store, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		return &sqliteLock{file: store.file}
	}
	held := lockOf(path)
	if err := held.Lock(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	others := map[string]*sqliteLock{
		"the same path": lockOf(path), "a link": lockOf(path + ".link"), "a linked folder": lockOf(filepath.Join(folder,
			"folder", "gluepot.db")),
		"a relative path": lockOf(relative),
	}
	for way, lock := range others {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if err := lock.Lock(ctx, nil); err == nil {
			t.Errorf("by %s: got the lock that another holds, want an error", way)
			_ = lock.Unlock(t.Context(), nil)
		}
		cancel()
	}
	if err := held.Unlock(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for way, lock := range others {
		if err := lock.Lock(t.Context(), nil); err != nil {
			t.Errorf("by %s: got %v, want the lock that nobody holds", way, err)
			continue
		}
		if err := lock.Unlock(t.Context(), nil); err != nil {
			t.Error(err)
		}
	}
}
