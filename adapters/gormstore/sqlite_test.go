package gormstore

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/paste"
)

// newSQLite returns a migrated store that is closed after the test, and its file.
func newSQLite(t *testing.T) (store *Store, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "gluepot.db")
	return openSQLite(t, path, func(*Config) {}), path
}

func openSQLite(t *testing.T, path string, configure func(*Config)) *Store {
	t.Helper()
	cfg := DefaultConfig()
	cfg.URL = URL("sqlite://" + path)
	configure(&cfg)
	store, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	if cfg.ReadOnly {
		err = store.Connect(t.Context())
	} else {
		err = store.BringUpToDate(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// TestDeletedTextIsGone deletes every second paste, some with text on pages of their own, and wants none of them to be found in the
// file or its log, while the rest can be.
func TestDeletedTextIsGone(t *testing.T) {
	t.Parallel()
	store, path := newSQLite(t)
	const pastes = 400
	var all []paste.Document
	for i := range pastes {
		what := "kept"
		if i%2 == 0 {
			what = "gone"
		}
		text := fmt.Sprintf("the-%s-text-%03d ", what, i)
		all = append(all, paste.Document{
			Paste: paste.Paste{ID: paste.ID(fmt.Sprintf("paste%03d", i*7%pastes)), CreatedAt: time.Now()},
			Content: paste.Content{
				Title: text, Lifetime: "never", Tags: []string{text},
				Pasties: []paste.Pasty{{ID: "pasty001", Title: text, Language: "Go", Code: strings.Repeat(text, 1+i*i%1000)}},
				Edits:   []paste.Edit{{ID: "edit0001", Text: strings.Repeat(text, 1+i%300), At: time.Now()}},
			},
		})
	}
	results, err := NewPastes(store).Import(t.Context(), all, paste.RefuseOrphans)
	if err != nil || errors.Join(results[0].Err, results[pastes-1].Err) != nil {
		t.Fatal(err, results)
	}
	found := func(what string) (texts int) {
		for _, name := range []string{path, path + "-wal"} {
			data, err := os.ReadFile(name)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			texts += bytes.Count(data, []byte("the-"+what+"-text-"))
		}
		return texts
	}
	if found("gone") == 0 {
		t.Fatal("got nothing in the file before it is deleted, want it")
	}
	for i := 0; i < pastes; i += 2 {
		if err := NewPastes(store).DeleteIf(t.Context(), all[i].ID, func(paste.Paste) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.TruncateLog(); err != nil {
		t.Fatal(err)
	}
	if log, err := os.Stat(path + "-wal"); err != nil || log.Size() != 0 {
		t.Errorf("got a log of %v bytes, error %v, want an empty one", log.Size(), err)
	}
	if gone, kept := found("gone"), found("kept"); gone != 0 || kept < pastes/2*4 {
		t.Errorf("got %d pieces of what was deleted, and %d of the rest, want none and more than %d", gone, kept, pastes/2*4)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if gone := found("gone"); gone != 0 {
		t.Errorf("got %d pieces of what was deleted after closing, want none", gone)
	}
}

// TestExpiryInstant judges a paste a microsecond before it expires, when it does, and after. For PostgreSQL see tests/integration.
func TestExpiryInstant(t *testing.T) {
	t.Parallel()
	store, _ := newSQLite(t)
	pastes := NewPastes(store)
	expiry := time.Now().Truncate(time.Microsecond)
	made := paste.Document{Paste: paste.Paste{ID: "p", CreatedAt: expiry, ExpiresAt: expiry}}
	if err := pastes.CreateDocument(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	for after, active := range map[time.Duration]int64{-time.Microsecond: 1, 0: 0, time.Microsecond: 0} {
		store.Clock = func() time.Time { return expiry.Add(after) }
		count, err := pastes.ActiveCount(t.Context())
		if err != nil || count != active {
			t.Errorf("%v after the expiry: got %d counted, error %v, want %d", after, count, err, active)
		}
		if _, err := pastes.ReadDocument(t.Context(), "p", ""); (err == nil) != (active == 1) {
			t.Errorf("%v after the expiry: got %v when it was read, want it found: %v", after, err, active == 1)
		}
	}
	for _, moment := range []struct {
		after   time.Duration
		removed int
	}{{time.Hour - time.Microsecond, 0}, {time.Hour, 1}} {
		store.Clock = func() time.Time { return expiry.Add(moment.after) }
		if removed, err := pastes.RemoveExpired(t.Context(), time.Hour, 10); removed != moment.removed || err != nil {
			t.Errorf("%v after the expiry: got %d removed, error %v, want %d", moment.after, removed, err, moment.removed)
		}
	}
}
