package commands

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
)

// usesOf returns a line for each command that opens the database at a URL.
func usesOf(t *testing.T, url string) []string {
	t.Helper()
	folder := t.TempDir()
	users := writeTo(t, folder, "users.json", `{"_id":"u1","username":"u1"}`)
	own := database.SQLite(t).URL
	// A server would end soon: it cannot listen there.
	lines := []string{"copy --from " + own + " --to " + url, "copy --to " + own + " --from " + url}
	for _, line := range []string{
		"serve --http-addr=192.0.2.1:0", "serve --demo --http-addr=192.0.2.1:0", "serve --read-only --http-addr=192.0.2.1:0",
		"serve --database-migrate=false --http-addr=192.0.2.1:0", "migrate up", "migrate status", "stats",
		"user list", "user create epoxy", "user delete epoxy --yes", "token list epoxy",
		"token issue epoxy --name x", "paste list",
		"paste create", "paste show p1", "search rebuild", "audit list", "block list", "report list", "invite list",
		"import pastemyst --users " + users, "import pastemyst --database-migrate=false --users " + users,
	} {
		lines = append(lines, line+" --database-url="+url)
	}
	if strings.HasPrefix(url, "sqlite:") {
		backup := filepath.Join(folder, "backup.db")
		if got := run(t, "backup", backup, "--database-url="+own); got.code != exitOK {
			t.Fatalf("got %+v, want a backup", got)
		}
		lines = append(lines, "backup "+filepath.Join(folder, "new.db")+" --database-url="+url, "compact --database-url="+url,
			"restore --replace "+backup+" --database-url="+url)
	}
	return lines
}

// wantForeign wants every command to refuse the database at a URL, which has that table of another program.
func wantForeign(t *testing.T, url, table string) {
	t.Helper()
	for _, line := range usesOf(t, url) {
		got := run(t, strings.Fields(line)...)
		wantRefusalWith(t, line, got, exitFailed,
			fmt.Sprintf("belongs to another program: Gluepot did not create its %q. Nothing was changed. Check ", table))
		if strings.Contains(got.stderr, "hunter2") {
			t.Errorf("%s: got %q, want no password", line, got.stderr)
		}
	}
}

// TestForeignFiles checks that no command touches an SQLite file of another program.
func TestForeignFiles(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ table, statements string }{
		"other tables":         {"bookmarks", "CREATE TABLE bookmarks (name); INSERT INTO bookmarks VALUES ('kept')"},
		"a table of our names": {"users", "CREATE TABLE users (name); INSERT INTO users VALUES ('kept')"},
		"WAL mode":             {"users", "PRAGMA journal_mode = WAL; CREATE TABLE users (name)"},
		"a view":               {"v", "CREATE VIEW v AS SELECT 1"},
		"begun by an older Gluepot": {"users", "CREATE TABLE users (name); " +
			"CREATE TABLE gluepot_versions (id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER, is_applied, tstamp); " +
			"INSERT INTO gluepot_versions VALUES (1, 0, 1, 0)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			path := writeTo(t, folder, "foo.db", "")
			url := "sqlite://" + path
			other := database.SQL(t, gormstore.Config{URL: url})
			if _, err := other.Exec(c.statements); err != nil {
				t.Fatal(err)
			}
			if err := other.Close(); err != nil {
				t.Fatal(err)
			}
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			wantForeign(t, url, c.table)
			wantFiles(t, folder, map[string]string{"foo.db": string(before)})
		})
	}
}

// TestForeignSchema checks that no command touches a PostgreSQL schema with foreign tables that have our names. Other
// tables may stand beside ours.
func TestForeignSchema(t *testing.T) {
	t.Parallel()
	cfg := database.EmptyPostgres(t)
	db := database.SQL(t, cfg)
	relations := func() (names string) {
		const query = `SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class
			WHERE relnamespace = 'public'::regnamespace`
		if err := db.QueryRow(query).Scan(&names); err != nil {
			t.Fatal(err)
		}
		return names
	}
	if _, err := db.Exec("CREATE TABLE bookmarks (name text); CREATE TABLE users (name text)"); err != nil {
		t.Fatal(err)
	}
	wantForeign(t, database.WithParameter(t, cfg, "sslpassword", "hunter2").URL, "users")
	if got, want := relations(), "bookmarks users"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, err := db.Exec("DROP TABLE users"); err != nil {
		t.Fatal(err)
	}
	i := installation{t, cfg.URL}
	i.do("migrate up")
	i.do("user create epoxy")
	i.do("stats")
}
