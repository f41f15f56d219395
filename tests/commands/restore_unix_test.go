//go:build unix

package commands

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/gluepot/gluepot/tests/database"
)

// TestRestoreKeepsOwner restores as root over the file of another user, who must still be able to open it.
func TestRestoreKeepsOwner(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	i, cfg, file := backedUp(t)
	path := database.SQLitePath(cfg)
	if err := os.Chown(path, 65534, 65533); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	got := i.do("restore --replace " + file)
	match := regexp.MustCompile(`kept at (.*)\.\n`).FindStringSubmatch(got)
	if match == nil {
		t.Fatalf("got %s, want where the old database is kept", got)
	}
	for _, name := range []string{path, match[1]} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		owner, _ := info.Sys().(*syscall.Stat_t)
		if owner.Uid != 65534 || owner.Gid != 65533 || info.Mode() != 0o640 {
			t.Errorf("%s: got the owner %d:%d and the mode %v, want 65534:65533 and -rw-r-----", name, owner.Uid,
				owner.Gid, info.Mode())
		}
	}
}

// TestNewDatabaseHasOwnerOfFolder creates a database as root in the folder of another user, who must be able to open
// it.
func TestNewDatabaseHasOwnerOfFolder(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	_, _, file := backedUp(t)
	for _, command := range []string{"restore " + file, "migrate up"} {
		t.Run(strings.Fields(command)[0], func(t *testing.T) {
			t.Parallel()
			cfg := database.EmptySQLite(t)
			path := database.SQLitePath(cfg)
			if err := os.Chown(filepath.Dir(path), 65534, 65533); err != nil {
				t.Fatal(err)
			}
			installation{t, cfg.URL}.do(command)
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			owner, _ := info.Sys().(*syscall.Stat_t)
			if owner.Uid != 65534 || owner.Gid != 65533 || info.Mode() != 0o600 {
				t.Errorf("got the owner %d:%d and the mode %v, want 65534:65533 and -rw-------", owner.Uid, owner.Gid, info.Mode())
			}
		})
	}
}
