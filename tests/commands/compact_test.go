package commands

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/tests/database"
)

// TestCompact shrinks a file beside a server that has it open. Beside a reader that never ends, it checks the error.
func TestCompact(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	store := database.Open(t, cfg) // stays open
	i := installation{t, cfg.URL}
	path := strings.TrimPrefix(cfg.URL, "sqlite://")
	input := t.TempDir() + "/large.txt"
	if err := os.WriteFile(input, []byte(strings.Repeat("0123456789abcde\n", 1<<16)), 0o600); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for range 5 {
		ids = append(ids, i.field("paste create --json "+input, "_id"))
	}
	survivor := i.field("paste create --json "+input, "_id")
	for _, id := range ids {
		i.do("paste delete " + id)
	}
	if got := i.do("compact"); !strings.HasPrefix(got, "The file had ") {
		t.Errorf("got %q, want how large it was", got)
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() > 3<<20 {
		t.Errorf("got a file of %d bytes, %v, want about a million and what is around it", info.Size(), err)
	}
	i.do("paste show " + survivor)
	if err := store.Ready(t.Context()); err != nil {
		t.Errorf("who has it open: got %v, want it to go on", err)
	}

	db := database.SQL(t, cfg)
	reading, err := db.BeginTx(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer reading.Rollback() //nolint:errcheck // it only reads
	var users int
	if err := reading.QueryRow("SELECT count(*) FROM users").Scan(&users); err != nil {
		t.Fatal(err)
	}
	got := i.run("compact --database-connect-timeout=100ms")
	wantRefusalWith(t, "compact", got, exitFailed, "is too busy")
}

// TestPurgedIndex checks that neither a backup nor a compacted file holds even three characters of a deleted paste.
func TestPurgedIndex(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	i := installation{t, cfg.URL}
	path, input := strings.TrimPrefix(cfg.URL, "sqlite://"), filepath.Join(t.TempDir(), "x.txt")
	i.do("user create epoxy --public")
	holds := func(path string) bool {
		t.Helper()
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Contains(content, []byte("ᚡᚢ"))
	}
	create := func(code string) (id string) {
		t.Helper()
		if err := os.WriteFile(input, []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
		return i.field("paste create --owner epoxy --public --json "+input, "_id")
	}
	create("kept")
	i.do("paste delete " + create("ᚠᚡᚢ"))
	if !holds(path) {
		t.Error("the index has forgotten the paste at once: this test shows nothing")
	}
	backup := filepath.Join(t.TempDir(), "backup.db")
	i.do("backup " + backup)
	i.do("compact")
	if holds(backup) || holds(path) {
		t.Errorf("got what was deleted in the backup: %v, and in the file: %v, want neither", holds(backup), holds(path))
	}
}

func TestCompactPostgres(t *testing.T) {
	t.Parallel()
	i := installation{t, database.Postgres(t).URL}
	wantRefusalWith(t, "compact", i.run("compact"), exitFailed, "VACUUM FULL")
}
