package gormstore

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// newFileStore returns a migrated store and the path of its file.
func newFileStore(t testing.TB) (*Store, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gluepot.db")
	cfg := DefaultConfig()
	cfg.URL = URL("sqlite://" + path)
	store, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	for _, step := range []func(context.Context) error{func(context.Context) error {
		return store.Create()
	}, store.Connect, store.Migrate} {
		if err := step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return store, path
}

func TestConnectionsAreOpenFromTheStart(t *testing.T) {
	t.Parallel()
	store, _ := newFileStore(t)
	if stats := store.sql.Stats(); stats.OpenConnections != stats.MaxOpenConnections {
		t.Errorf("got %d open connections, want %d", stats.OpenConnections, stats.MaxOpenConnections)
	}
}

// TestWritesNoticeReplacedFile does not wait for the watcher: what is acknowledged must be in the file that has the name.
func TestWritesNoticeReplacedFile(t *testing.T) {
	t.Parallel()
	for write, do := range map[string]func(context.Context, *Store, string) error{
		"a statement": func(ctx context.Context, store *Store, id string) error {
			return NewPastes(store).CreateDocument(ctx, paste.Document{Paste: paste.Paste{ID: paste.ID(id), CreatedAt: time.Now()}})
		},
		"a transaction": func(ctx context.Context, store *Store, id string) error {
			name, err := user.ParseName(id)
			if err != nil {
				return err
			}
			return NewUsers(store).Create(ctx, user.User{ID: user.ID(id), Name: name, CreatedAt: time.Now()},
				map[string]string{"github": "1"})
		},
		"a user's end": func(ctx context.Context, store *Store, id string) error {
			name, err := user.ParseName("doomed")
			if err != nil {
				return err
			}
			if id == "first001" {
				return NewUsers(store).Create(ctx, user.User{ID: "doomed", Name: name, CreatedAt: time.Now()}, nil)
			}
			_, err = NewUsers(store).Delete(ctx, name)
			return err
		},
		"a sweep": func(ctx context.Context, store *Store, _ string) error {
			_, err := NewPastes(store).RemoveExpired(ctx, 0, 1)
			return err
		},
	} {
		t.Run(write, func(t *testing.T) {
			t.Parallel()
			store, path := newFileStore(t)
			if err := do(t.Context(), store, "first001"); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path+".new", nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(path+".new", path); err != nil {
				t.Fatal(err)
			}
			store.file.stop() // the watcher does not help
			if err := do(t.Context(), store, "second01"); !fault.Is(err, fault.Unavailable) || fault.MessageOf(err) != errFileReplaced.Message {
				t.Errorf("a write: got %v, want %q", err, errFileReplaced.Message)
			}
			_, err := NewPastes(store).ActiveCount(t.Context())
			if fault.MessageOf(err) != errFileReplaced.Message {
				t.Errorf("a read after it was noticed: got %v, want %q", err, errFileReplaced.Message)
			}
			if content, err := os.ReadFile(path); err != nil || len(content) != 0 {
				t.Errorf("the other file: got %d bytes, error %v, want it left empty", len(content), err)
			}
		})
	}
}

// TestReopenedConnection stays with the first file: one that was interrupted is opened again.
func TestReopenedConnection(t *testing.T) {
	t.Parallel()
	store, path := newFileStore(t)
	store.file.stop() // the watcher does not help
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	conn, err := store.file.Connect(t.Context())
	if err == nil {
		_ = conn.Close()
	}
	if fault.MessageOf(err) != errFileReplaced.Message {
		t.Errorf("got %v, want %q", err, errFileReplaced.Message)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("got a new file, want none")
	}
}

func BenchmarkFileCheck(b *testing.B) {
	store, _ := newFileStore(b)
	b.ReportAllocs()
	for b.Loop() {
		if err := store.file.check(); err != nil {
			b.Fatal(err)
		}
	}
}

// TestCreateBehindALink does not take a link to nowhere for a database that is there: nobody could be told what to do then.
func TestCreateBehindALink(t *testing.T) {
	t.Parallel()
	store, path := newFileStore(t)
	if err := store.Create(); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, path+".link"); err != nil {
		t.Fatal(err)
	}
	if err := createPrivate(path + ".link"); err != nil {
		t.Errorf("a link to a database: got %v, want no error", err)
	}
	if err := os.Symlink(path+".missing", path+".nowhere"); err != nil {
		t.Fatal(err)
	}
	if err := createPrivate(path + ".nowhere"); err == nil {
		t.Error("a link to nowhere: got no error, want one")
	}
}

// TestRemovedLog sees what is written after the log was removed refused.
func TestRemovedLog(t *testing.T) {
	t.Parallel()
	store, path := newFileStore(t)
	create := func(store *Store, id paste.ID) error {
		return NewPastes(store).CreateDocument(t.Context(), paste.Document{Paste: paste.Paste{ID: id, CreatedAt: time.Now()}})
	}
	if err := create(store, "before01"); err != nil {
		t.Fatal(err)
	}
	store.file.stop() // the watcher does not help
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil {
			t.Fatal(err)
		}
	}
	if err := create(store, "after001"); fault.MessageOf(err) != errFileReplaced.Message {
		t.Errorf("a write after the log was removed: got %v, want %q", err, errFileReplaced.Message)
	}
	if err := store.Ready(t.Context()); !fault.Is(err, fault.Unavailable) {
		t.Errorf("readiness: got %v, want a fault of kind %q", err, fault.Unavailable)
	}
}
