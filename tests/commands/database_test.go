package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
)

// TestNothingIsCreated runs the commands that need a database, without one.
func TestNothingIsCreated(t *testing.T) {
	t.Parallel()
	users := writeTo(t, t.TempDir(), "users.json", "")
	for _, line := range []string{
		"stats", "user list", "user create epoxy", "token list epoxy", "paste list epoxy", "migrate status",
		"serve --database-migrate=false", "import pastemyst --database-migrate=false --users " + users,
	} {
		folder := t.TempDir()
		i := installation{t, "sqlite://" + filepath.Join(folder, "new", "gluepot.db")}
		wantRefusalWith(t, line, i.run(line), exitFailed, "There is no database at sqlite://", "'gluepot migrate up'")
		wantFiles(t, folder, nil)
	}
}

// empty returns an installation whose database is a file without tables.
func empty(t *testing.T) installation {
	t.Helper()
	cfg := database.EmptySQLite(t)
	if err := os.WriteFile(database.SQLitePath(cfg), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return installation{t, cfg.URL}
}

// wantNoTables wants a database to have what empty gave it: nothing.
func wantNoTables(i installation) {
	i.Helper()
	var tables int
	db := database.SQL(i.T, gormstore.Config{URL: i.url})
	if err := db.QueryRow("SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil || tables != 0 {
		i.Errorf("got %d tables, error %v, want none", tables, err)
	}
}

// TestLackingMigrations checks that commands that may not migrate report the missing migrations.
func TestLackingMigrations(t *testing.T) {
	t.Parallel()
	i := empty(t)
	for _, line := range []string{
		"stats", "user list", "user create epoxy", "token list epoxy", "paste list epoxy",
		"import pastemyst --database-migrate=false --users -",
	} {
		wantRefusal(t, line, i.run(line), exitFailed, "The database lacks migrations. Run 'gluepot migrate up'.")
	}
	wantNoTables(i)
}

// TestMigrateAgainstSetting checks that migrating needs the flag: the operator may have set the variable for a reason.
func TestMigrateAgainstSetting(t *testing.T) {
	i := empty(t)
	const refusal = "run 'gluepot migrate up --database-migrate'"
	wantRefusalWith(t, "the flag", i.run("migrate up --database-migrate=false"), exitFailed, refusal)
	t.Setenv("GLUEPOT_DATABASE_MIGRATE", "false")
	wantRefusalWith(t, "the setting", i.run("migrate up"), exitFailed, refusal)
	wantRefusalWith(t, "an import", i.run("import pastemyst --users -"), exitFailed, "The database lacks migrations.")
	if status := i.do("migrate status"); strings.Contains(status, "applied") {
		t.Errorf("migrate status: got %s, want nothing to be applied", status)
	}
	wantNoTables(i)
	i.do("migrate up --database-migrate") // the flag wins
	i.do("stats")
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	i := empty(t)
	for _, step := range []struct{ line, part string }{
		{"migrate status", "pending"}, {"migrate status", "at version 0"},
		{"migrate up", "The database is up to date, at version "},
		{"migrate up", "The database is up to date, at version "}, {"migrate status", "applied"},
	} {
		if got := i.do(step.line); !strings.Contains(got, step.part) {
			t.Errorf("%s: got %s, want %q in it", step.line, got, step.part)
		}
	}
}

// TestImportCreates checks that an import creates its database.
func TestImportCreates(t *testing.T) {
	t.Parallel()
	i := installation{t, database.EmptySQLite(t).URL}
	if got := i.runReading("", "import pastemyst --users -"); got.code != exitOK || got.stderr != "" {
		t.Errorf("got %+v, want exit code 0 and no standard error", got)
	}
	i.do("stats")
}

// TestDamagedFile checks that a damaged file is refused at the start, with the cause.
func TestDamagedFile(t *testing.T) {
	t.Parallel()
	cfg := database.EmptySQLite(t)
	if err := os.WriteFile(database.SQLitePath(cfg), []byte(strings.Repeat("damaged ", 1024)), 0o600); err != nil {
		t.Fatal(err)
	}
	i := installation{t, cfg.URL}
	for _, line := range []string{"serve", "stats", "migrate up", "migrate status"} {
		wantRefusalWith(t, line, i.run(line), exitFailed, "is damaged, or not a database.", "(file is not a database (26))")
	}
}

// TestUnusablePath checks that the error says what is wrong with the path, whatever SQLite calls that.
func TestUnusablePath(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	link := filepath.Join(folder, "link.db")
	if err := os.Symlink(filepath.Join(folder, "nowhere.db"), link); err != nil {
		t.Fatal(err)
	}
	for path, part := range map[string]string{
		folder: "names a file that this user may write", link: "(it is a link to a file that does not exist)",
	} {
		i := installation{t, "sqlite://" + path}
		for _, line := range []string{"migrate up", "serve"} {
			wantRefusalWith(t, line+" on "+path, i.run(line), exitFailed, part)
		}
	}
}
