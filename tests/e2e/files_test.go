package e2e

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// TestOutdatedDatabase checks that no command creates tables in an empty database if a setting forbids migrations.
func TestOutdatedDatabase(t *testing.T) {
	t.Parallel()
	eachEmpty(t, func(t *testing.T, cfg gormstore.Config) {
		url := "GLUEPOT_DATABASE_URL=" + cfg.URL
		if strings.HasPrefix(cfg.URL, "sqlite:") {
			if err := os.WriteFile(database.SQLitePath(cfg), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		const noMigration = "GLUEPOT_DATABASE_MIGRATE=false"
		for line, part := range map[string]string{
			"user list":                  "The database lacks migrations. Run 'gluepot migrate up'.",
			"migrate up":                 "run 'gluepot migrate up --database-migrate'",
			"import pastemyst --users -": "The database lacks migrations.",
		} {
			code, stdout, stderr := program.Run(t, []string{url, noMigration}, strings.Fields(line)...)
			if code != 1 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, part) {
				t.Errorf("%s: got exit code %d, %q, %q, want 1 and one line with %q", line, code, stdout, stderr, part)
			}
		}
		var tables int
		query := "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'public'"
		if strings.HasPrefix(cfg.URL, "sqlite:") {
			query = "SELECT count(*) FROM sqlite_schema"
		}
		if err := database.SQL(t, cfg).QueryRow(query).Scan(&tables); err != nil || tables != 0 {
			t.Errorf("got %d tables, error %v, want none", tables, err)
		}
		if code, _, stderr := program.Run(t, []string{url, noMigration}, "migrate", "up", "--database-migrate"); code != 0 {
			t.Errorf("migrate up with the flag: got exit code %d, want 0: %s", code, stderr)
		}
		if code, _, stderr := program.Run(t, []string{url, noMigration}, "stats"); code != 0 {
			t.Errorf("stats: got exit code %d, want 0: %s", code, stderr)
		}
	})
}

// TestFilesArePrivate checks the mode of every file that a running server has on disk.
func TestFilesArePrivate(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("files on Windows have no mode")
	}
	folder := t.TempDir()
	server := program.Serve(t, "sqlite://"+filepath.Join(folder, "data", "deep", "gluepot.db"))
	wantStatus(t, server, "/readyz", http.StatusOK)
	var files []string
	err := filepath.WalkDir(filepath.Join(folder, "data"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if mode := info.Mode().Perm(); mode&0o077 != 0 {
			t.Errorf("%s: got the mode %v, want no access for others", path, mode)
		}
		if !entry.IsDir() {
			files = append(files, filepath.Base(path))
		}
		return nil
	})
	if want := "gluepot.db gluepot.db-shm gluepot.db-wal"; err != nil || strings.Join(files, " ") != want {
		t.Errorf("got the files %v, error %v, want %s", files, err, want)
	}
}

// TestReplacedFile removes or replaces the database file of a running server. Every 200 must come from the file that
// the server started with, and no answer may be a 500.
func TestReplacedFile(t *testing.T) {
	t.Parallel()
	other := database.SQLite(t) // without the user epoxy
	content, err := os.ReadFile(database.SQLitePath(other))
	if err != nil {
		t.Fatal(err)
	}
	for name, replace := range map[string]func(path string) error{
		"removed": func(path string) error {
			return os.Remove(path)
		},
		"removed with its log": func(path string) error {
			for _, suffix := range []string{"", "-wal", "-shm"} {
				if err := os.Remove(path + suffix); err != nil {
					return err
				}
			}
			return nil
		},
		"replaced": func(path string) error {
			if err := os.WriteFile(path+".new", content, 0o600); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		},
		"moved with its folder": func(path string) error {
			return os.Rename(filepath.Dir(path), filepath.Dir(path)+".old")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "data", "gluepot.db")
			cfg := gormstore.DefaultConfig()
			cfg.URL = "sqlite://" + path
			if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			program.Fixture(t, cfg)
			server := program.Serve(t, cfg.URL, "GLUEPOT_TOKEN_USE_INTERVAL=20ms")
			wantStatus(t, server, "/user/epoxy", http.StatusOK)
			if err := replace(path); err != nil {
				t.Fatal(err)
			}
			program.Eventually(t, "the server notices", func() bool {
				for _, path := range databasePaths {
					switch status, body := server.Get(path, program.EpoxyToken); {
					case status == http.StatusServiceUnavailable &&
						strings.Contains(body, "The database file was replaced or removed"):
						return true
					case status != http.StatusOK || strings.Contains(body, `"numPastes":0`):
						t.Fatalf("%s: got %d %s, want the first file's answer, or 503", path, status, body)
					}
				}
				return false
			})
			for _, path := range append(databasePaths, "/readyz") {
				wantStatus(t, server, path, http.StatusServiceUnavailable)
			}
			program.Eventually(t, "the log says why", func() bool {
				return strings.Contains(server.Stderr.String(), "The database file was replaced or removed")
			})
			if _, err := os.Stat(path); name != "replaced" && err == nil {
				t.Error("got a new file from the server, want none")
			}
		})
	}
}

// TestReadinessNoticesReplacedFile checks that /readyz notices a replaced file itself, without waiting for the watcher.
func TestReadinessNoticesReplacedFile(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	server := program.Serve(t, cfg.URL)
	wantStatus(t, server, "/readyz", http.StatusOK)
	if err := os.Remove(database.SQLitePath(cfg)); err != nil {
		t.Fatal(err)
	}
	_, body := wantStatus(t, server, "/readyz", http.StatusServiceUnavailable)
	if !strings.Contains(body, "The database file was replaced or removed") {
		t.Errorf("got %s, want it to say that the file was replaced or removed", body)
	}
	wantStatus(t, server, "/user/epoxy", http.StatusServiceUnavailable)
	wantStatus(t, server, "/healthz", http.StatusOK)
}

// TestDamagedTable checks that reading a damaged table gives 503, with the cause in the log.
func TestDamagedTable(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	db := database.SQL(t, cfg)
	// Numbers of the pages of the table and its indexes, which are empty, and the size of a page.
	var first, last, size int64
	query := "SELECT min(rootpage), max(rootpage), page_size FROM sqlite_schema, pragma_page_size WHERE tbl_name = 'users'"
	if err := db.QueryRow(query).Scan(&first, &last, &size); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(database.SQLitePath(cfg), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = file.WriteAt(bytes.Repeat([]byte{0xaa}, int((last-first+1)*size)), (first-1)*size); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	server := program.Serve(t, cfg.URL)
	_, body := wantStatus(t, server, "/user/epoxy", http.StatusServiceUnavailable)
	if !strings.Contains(body, "The database file is damaged.") {
		t.Errorf("got %s, want it to say that the file is damaged", body)
	}
	if line := server.WaitForLog("request"); !strings.Contains(fmt.Sprint(line["error"]),
		"database disk image is malformed") {
		t.Errorf("got %v, want the cause in it", line)
	}
}

// TestRemovedLogOfFile removes the write-ahead log of a running server's file, and checks that changes by commands
// after that survive the server's stop.
func TestRemovedLogOfFile(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	server := program.Serve(t, cfg.URL)
	wantStatus(t, server, "/user/epoxy", http.StatusOK)
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := os.Remove(database.SQLitePath(cfg) + suffix); err != nil {
			t.Fatal(err)
		}
	}
	settings := []string{"GLUEPOT_DATABASE_URL=" + cfg.URL}
	if code, _, stderr := program.Run(t, settings, "user", "create", "after"); code != 0 {
		t.Fatalf("got exit code %d, want 0: %s", code, stderr)
	}
	program.Eventually(t, "the server notices", func() bool {
		status, _ := server.Get("/user/epoxy", "")
		return status == http.StatusServiceUnavailable
	})
	wantStatus(t, server, "/readyz", http.StatusServiceUnavailable)
	server.Signal(syscall.SIGTERM)
	if code := server.Wait(); code != 0 {
		t.Errorf("got exit code %d, want 0", code)
	}
	if code, _, stderr := program.Run(t, settings, "user", "show", "after"); code != 0 {
		t.Errorf("the user created after that: got exit code %d, want 0: %s", code, stderr)
	}
}
