package gormstore

import (
	"bytes"
	"crypto/sha256"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore/db"
	"github.com/gluepot/gluepot/adapters/gormstore/sqlitefile"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// createAnonymous creates a paste that counts for a client, and returns what the store keeps of the client.
func createAnonymous(t *testing.T, store *Store, id paste.ID) (client, salt []byte) {
	t.Helper()
	ten := paste.Allowance{Rate: paste.Quota{Pastes: 10, Window: time.Hour}}
	_, err := NewPastes(store).CreateAllowed(t.Context(), netip.Addr{}, ten, "192.0.2.7", paste.Document{
		Paste:   paste.Paste{ID: id, CreatedAt: time.Now()},
		Content: paste.Content{Title: "a title", Lifetime: "never", Pasties: []paste.Pasty{{ID: "pasty001", Code: "a"}}},

		CreatedFrom: netip.MustParseAddr("192.0.2.7"),
	})

	if err != nil {
		t.Fatal(err)
	}
	tx := store.Read(t.Context())
	if err := tx.Raw("SELECT (SELECT client FROM paste_quotas), (SELECT salt FROM paste_quota_salt)").Row().Scan(&client,
		&salt); err != nil {
		t.Fatal(err)
	}
	return client, salt
}

// TestBackupLeavesOutClients checks that a backup does not tell who created an anonymous paste.
func TestBackupLeavesOutClients(t *testing.T) {
	t.Parallel()
	store, _ := newSQLite(t)
	client, salt := createAnonymous(t, store, "paste001")
	path := filepath.Join(t.TempDir(), "backup.db")
	if err := store.Backup(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("got mode %v, error %v, want -rw-------", info.Mode(), err)
	}
	data, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(data, []byte("a title")) {
		t.Errorf("got no paste in the backup, error %v, want one", err)
	}
	if bytes.Contains(data, client) || bytes.Contains(data, salt) || bytes.Contains(data, []byte("192.0.2.7")) {
		t.Error("got a client, its address or the salt in the backup, want none of them")
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("got %v, error %v, want nothing else beside the backup", entries, err)
	}
	target := filepath.Join(t.TempDir(), "gluepot.db")
	cfg := DefaultConfig()
	cfg.URL = "sqlite://" + target
	if _, err := db.Restore(t.Context(), cfg, path, sqlitefile.Replacement{}); err != nil {
		t.Fatal(err)
	}
	if _, other := createAnonymous(t, openSQLite(t, target, func(*Config) {}), "paste002"); bytes.Equal(other, salt) ||
		len(other) != len(salt) {
		t.Errorf("got the salt %x after %x, want another", other, salt)
	}
}

// TestBackupOfUnfinishedCopy checks that a database is not backed up while a copy into it is unfinished.
func TestBackupOfUnfinishedCopy(t *testing.T) {
	t.Parallel()
	store, _ := newSQLite(t)
	if err := NewCopies(store).Begin(t.Context(), "source", "run"); err != nil {
		t.Fatal(err)
	}
	if err := store.Backup(t.Context(), filepath.Join(t.TempDir(), "backup.db")); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v, want %v", err, fault.Unavailable)
	}
}

// TestReadOnlyFile reads a database with and without its server, in folders that can be written and that cannot. The
// file must not change.
func TestReadOnlyFile(t *testing.T) {
	t.Parallel()
	server, path := newSQLite(t)
	createAnonymous(t, server, "paste001")
	check := func(t *testing.T, folder string) {
		t.Helper()
		path := filepath.Join(folder, filepath.Base(path))
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		store := openSQLite(t, path, func(cfg *Config) { cfg.RefuseWrites, cfg.Offline = true, true })
		if got, err := NewPastes(store).ActiveCount(t.Context()); err != nil || got != 1 {
			t.Errorf("got %d pastes, error %v, want 1", got, err)
		}
		allow := func(paste.Paste) error { return nil }
		if err := NewPastes(store).DeleteIf(t.Context(), auditlog.Entry{}, "paste001", allow); !fault.Is(err,
			fault.Unavailable) {
			t.Errorf("deleting: got %v, want %v", err, fault.Unavailable)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
		after, err := os.ReadFile(path)
		if err != nil || sha256.Sum256(after) != sha256.Sum256(before) {
			t.Errorf("got a file that has changed, error %v, want it unchanged", err)
		}
	}
	folder := filepath.Dir(path)
	t.Run("beside a server", func(t *testing.T) { check(t, folder) })
	t.Run("beside a server, in a read-only folder", func(t *testing.T) { check(t, readOnly(t, folder)) })
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	t.Run("in a read-only folder", func(t *testing.T) { check(t, readOnly(t, folder)) })
	t.Run("without a server", func(t *testing.T) { check(t, folder) })
}

// readOnly makes a folder read-only until the test ends, and returns its path. Permissions do not bind root, who gets a
// read-only mount of the folder instead.
func readOnly(t *testing.T, folder string) string {
	t.Helper()
	if os.Geteuid() != 0 {
		if err := os.Chmod(folder, 0o500); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(folder, 0o700) })
		return folder
	}
	mountPoint := t.TempDir()
	mount := func(args ...string) {
		if out, err := exec.CommandContext(t.Context(), "mount", args...).CombinedOutput(); err != nil {
			t.Skipf("root cannot mount here, and can write to any folder: %s", out)
		}
	}
	mount("--bind", folder, mountPoint)
	t.Cleanup(func() {
		if out, err := exec.Command("umount", mountPoint).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	mount("-o", "remount,bind,ro", mountPoint)
	return mountPoint
}

// TestBackupRemovesAbandonedFiles checks that a backup removes the file of one that was killed. Such a file may hold
// pastes that are deleted later.
func TestBackupRemovesAbandonedFiles(t *testing.T) {
	t.Parallel()
	store, _ := newSQLite(t)
	folder := t.TempDir()
	abandoned, running := filepath.Join(folder, ".gluepot-partial-1"), filepath.Join(folder, ".gluepot-partial-2")
	for path, age := range map[string]time.Duration{abandoned: 2 * time.Hour, running: 0} {
		if err := os.WriteFile(path, []byte("a copy"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Backup(t.Context(), filepath.Join(folder, "backup.db")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(abandoned); !os.IsNotExist(err) {
		t.Errorf("got %v, want the abandoned file removed", err)
	}
	if _, err := os.Stat(running); err != nil {
		t.Errorf("got %v, want the file of a running backup left alone", err)
	}
}
