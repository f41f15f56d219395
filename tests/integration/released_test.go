package integration

import (
	"bytes"
	"flag"
	"os"
	osexec "os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// freeze is the version whose databases "make freeze" stores.
var freeze = flag.String("freeze", "",
	"store the migrations and filled databases of this version, such as v0.1.0, in testdata/released")

const (
	releasesFolder   = "testdata/released"
	migrationsFolder = "../../adapters/gormstore/db/migrations"
)

// TestFreeze stores the files of a version for TestReleased, if the flag -freeze names one.
func TestFreeze(t *testing.T) {
	if *freeze == "" {
		t.Skip("only for a release: make freeze VERSION=v0.1.0")
	}
	folder := filepath.Join(releasesFolder, *freeze)
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	copyMigrations(t, folder)
	writeSQLite(t, folder)
	cfg := database.Postgres(t)
	program.Fixture(t, cfg)
	dump := osexec.CommandContext(t.Context(), "pg_dump", "--inserts", "--no-owner", "--no-privileges",
		"--dbname", cfg.URL)
	dump.Stderr = os.Stderr
	text, err := dump.Output()
	if err != nil {
		t.Fatal(err)
	}
	text = regexp.MustCompile(
		`(?m)^(\\|SELECT pg_catalog\.set_config\('search_path'|SET transaction_timeout).*\n`).ReplaceAll(text, nil)
	writeFile(t, filepath.Join(folder, "postgres.sql"), text)
}

func copyMigrations(t *testing.T, folder string) {
	t.Helper()
	if err := os.CopyFS(filepath.Join(folder, "migrations"), os.DirFS(migrationsFolder)); err != nil {
		t.Fatal(err)
	}
}

func writeSQLite(t *testing.T, folder string) {
	t.Helper()
	cfg := database.SQLite(t)
	program.Fixture(t, cfg)
	path := filepath.Join(t.TempDir(), "copy.db")
	exec(t, database.SQL(t, cfg), "VACUUM INTO ?", path)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(folder, "sqlite.db"), content)
}

func writeFile(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// changedMigrations returns the migrations of a version that have changed since.
func changedMigrations(t *testing.T, folder string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "migrations", "*", "*.sql"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: got %v, %v, want migrations", folder, files, err)
	}
	for _, file := range files {
		before, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		now, err := os.ReadFile(filepath.Join(migrationsFolder, strings.TrimPrefix(file, filepath.Join(folder,
			"migrations"))))
		if err != nil || !bytes.Equal(before, now) {
			names = append(names, strings.TrimPrefix(file, folder+"/"))
		}
	}
	return names
}

// TestReleased checks that migrations of released versions are unchanged, and that this version migrates and reads
// filled databases of theirs. The current state counts as a version, too.
func TestReleased(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob(releasesFolder + "/v*")
	if err != nil {
		t.Fatal(err)
	}
	now := t.TempDir()
	copyMigrations(t, now)
	writeSQLite(t, now)
	for _, folder := range append(folders, now) {
		name := filepath.Base(folder)
		if folder == now {
			name = "now"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if names := changedMigrations(t, folder); names != nil {
				t.Errorf("got the changed migrations %v, want them as released: add one with the next number instead", names)
			}
			if content, err := os.ReadFile(filepath.Join(folder, "sqlite.db")); err != nil {
				t.Error(err)
			} else {
				cfg := database.EmptySQLite(t)
				writeFile(t, database.SQLitePath(cfg), content)
				wantReleased(t, cfg)
			}
			if folder == now { // pg_dump is needed only for a release
				return
			}
			content, err := os.ReadFile(filepath.Join(folder, "postgres.sql"))
			if err != nil {
				t.Fatal(err)
			}
			cfg := database.EmptyPostgres(t)
			exec(t, database.SQL(t, cfg), string(content))
			wantReleased(t, cfg)
		})
	}
}

// wantReleased migrates a database with program.Fixture, and reads its data.
func wantReleased(t *testing.T, cfg gormstore.Config) {
	t.Helper()
	store := newStore(t, cfg)
	if err := store.BringUpToDate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if schema, err := store.Schema(t.Context()); err != nil || schema.Same() != nil {
		t.Errorf("got %+v, error %v, want every migration", schema, err)
	}
	totals, err := gormstore.NewStats(store).Totals(t.Context())
	if err != nil || totals.Users != 4 || totals.Tokens != 4 || totals.ActivePastes == 0 {
		t.Errorf("got %+v, error %v, want the users, tokens and pastes of the fixture", totals.Counts, err)
	}
	if document, err := gormstore.NewPastes(store).DocumentByID(t.Context(), "oldest01"); err != nil ||
		document.Owner != "epoxy001" {
		t.Errorf("got %+v, error %v, want Epoxy's paste", document, err)
	}
}

// TestChangedMigration checks that changedMigrations notices a change.
func TestChangedMigration(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	copyMigrations(t, folder)
	writeFile(t, filepath.Join(folder, "migrations/sqlite/00001_initial.sql"), []byte("-- +goose Up\n"))
	if got := changedMigrations(t, folder); len(got) != 1 || got[0] != "migrations/sqlite/00001_initial.sql" {
		t.Errorf("got %v, want the changed one", got)
	}
}
