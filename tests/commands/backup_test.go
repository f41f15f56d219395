package commands

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
)

// backedUp returns an installation with data, which is not open, and a backup of it.
func backedUp(t *testing.T) (i installation, cfg gormstore.Config, file string) {
	t.Helper()
	filled := filled(t, database.SQLite(t)) // is open until the test ends
	file, cfg = filepath.Join(t.TempDir(), "backup.db"), database.EmptySQLite(t)
	run := installation{t, filled.URL}
	if got, want := run.do("backup "+file), "The database is backed up to "+file+".\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	i = installation{t, cfg.URL}
	if got, want := i.do("restore "+file), "The database "+i.url+" is restored from "+file+".\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := contents(t, cfg), contents(t, filled); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	return i, cfg, file
}

// TestBackup checks that a backup holds what the database does, and can be restored where there is no database.
func TestBackup(t *testing.T) {
	t.Parallel()
	i, _, file := backedUp(t)
	wantNames(t, filepath.Dir(file), []string{"backup.db"})
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
		t.Errorf("got %v, error %v, want a file of mode -rw-------", info.Mode(), err)
	}
	restored := installation{t, "sqlite://" + filepath.Join(t.TempDir(), "new", "gluepot.db")}
	restored.do("restore " + file)
	if got, want := restored.do("stats"), i.do("stats"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	wantRefusal(t, "backup again", i.run("backup "+file), exitFailed,
		"The file "+file+" already exists. Choose another name.")
	wantRefusalWith(t, "backup to nowhere", i.run("backup "+file+"/x"), exitFailed,
		"Cannot write "+file+"/x. (not a directory)")
	wantNames(t, filepath.Dir(file), []string{"backup.db"})
}

// TestBackupLeavesTheProcessAlone checks that a program that runs a command itself keeps its memory limit.
func TestBackupLeavesTheProcessAlone(t *testing.T) {
	t.Parallel()
	before := debug.SetMemoryLimit(-1)
	backedUp(t)
	if after := debug.SetMemoryLimit(-1); after != before {
		t.Errorf("got a memory limit of %d bytes after a backup, want %d as before", after, before)
	}
}

// TestBackupOfOpenStore backs up a store that is already connected, and checks that it is closed afterwards.
func TestBackupOfOpenStore(t *testing.T) {
	t.Parallel()
	store, err := gormstore.New(database.SQLite(t))
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan error, 1)
	if err := errors.Join(store.Connect(t.Context()),
		store.Backup(t.Context(), filepath.Join(t.TempDir(), "backup.db"))); err != nil {
		t.Fatal(err)
	}
	go func() { closed <- store.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("got no end of Close, want one")
	}
}

// TestRestoreReplaces checks that the old database is kept, with what is only in its log.
func TestRestoreReplaces(t *testing.T) {
	t.Parallel()
	i, cfg, file := backedUp(t)
	before := contents(t, cfg)
	path := database.SQLitePath(cfg)
	folder := filepath.Dir(path)

	store := database.Open(t, cfg) // as a server has it
	i.do("user create newcomer")
	wantRefusalWith(t, "restore", i.run("restore "+file), exitFailed,
		"There is already a database at "+path+". Add --replace")
	wantRefusal(t, "restore while it is open", i.run("restore --replace --database-connect-timeout 50ms "+file),
		exitFailed,
		"The database is open in another process. Stop the server, then try again.")
	after := contents(t, cfg)
	if !strings.Contains(after, `"newcomer"`) {
		t.Fatalf("got\n%s\nwant a newcomer", after)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}

	got := i.do("restore --replace --with-deleted " + file)
	_, oldPath, _ := strings.Cut(strings.TrimSuffix(got, ".\n"), "The old database is kept at ")
	if contents(t, cfg) != before {
		t.Errorf("got\n%s\nwant\n%s", contents(t, cfg), before)
	}
	wantNames(t, folder, []string{filepath.Base(path), filepath.Base(oldPath)})
	if got := contents(t, gormstore.Config{URL: "sqlite://" + oldPath}); got != after {
		t.Errorf("got\n%s\nin %q, want\n%s", got, oldPath, after)
	}
}

// TestRestoreRefusals restores files that are not backups, and checks that the database stays.
func TestRestoreRefusals(t *testing.T) {
	t.Parallel()
	i, cfg, file := backedUp(t)
	want := contents(t, cfg)
	folder := t.TempDir()
	backup, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	broken := []byte(string(backup))
	for at := 2 * 4096; at < len(broken); at += 4096 {
		copy(broken[at:], strings.Repeat("\xff", 64))
	}
	changed := func(name, statement string) string {
		path := writeTo(t, folder, name, string(backup))
		if _, err := database.SQL(t, gormstore.Config{URL: "sqlite://" + path}).ExecContext(t.Context(),
			statement); err != nil {
			t.Fatal(err)
		}
		return path
	}
	withLog := writeTo(t, folder, "log.db", string(backup))
	writeTo(t, folder, "log.db-wal", "a log")
	linked := filepath.Join(folder, "link.db")
	if err := os.Symlink(withLog, linked); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		filepath.Join(folder, "none.db"): "none.db: no such file or directory.",
		folder:                           "is not a file",
		writeTo(t, folder, "text",
			"not a database at all"): "is damaged, or not a database",
		writeTo(t, folder, "broken.db",
			string(broken)): "is damaged, or not a database",
		writeTo(t, folder, "half.db",
			string(backup[:len(backup)/2/4096*4096])): "is damaged, or not a database",
		writeTo(t, folder, "nothing", ""): "but not Gluepot's",
		changed("newer.db",
			`INSERT INTO gluepot_versions (version_id, is_applied) VALUES (9999, true)`): "is at version 9999",
		changed("orphans.db", `INSERT INTO stars VALUES ('nobody00', 'x', 0)`):       "1 rows refer to missing rows",
		changed("early.db", `ALTER TABLE gluepot_versions RENAME TO gluepot_schema`): "before Gluepot's first release",
		withLog:                  "has a log (-wal) beside it",
		linked:                   "has a log (-wal) beside it",
		database.SQLitePath(cfg): "is the database itself",
	} {
		wantRefusalWith(t, "restore "+path, i.run("restore --replace "+path), exitFailed, text)
	}
	if got := contents(t, cfg); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	wantNames(t, filepath.Dir(database.SQLitePath(cfg)), []string{filepath.Base(database.SQLitePath(cfg))})

	// A log that is left of another database would be taken for the new one's.
	alone := filepath.Join(t.TempDir(), "gluepot.db")
	writeTo(t, filepath.Dir(alone), "gluepot.db-wal", "a log")
	wantRefusalWith(t, "restore beside a log", installation{t, "sqlite://" + alone}.run("restore "+file), exitFailed,
		"There is a log "+alone+"-wal without its database")

	// So would what is left of a transaction in a database that was in no WAL mode: it would be undone in the new one.
	alone = filepath.Join(t.TempDir(), "gluepot.db")
	writeTo(t, filepath.Dir(alone), "gluepot.db-journal", "a journal")
	wantRefusalWith(t, "restore beside a journal", installation{t, "sqlite://" + alone}.run("restore "+file), exitFailed,
		"There is a log "+alone+"-journal without its database")
	withJournal := filepath.Join(folder, "journal.db")
	writeTo(t, folder, "journal.db", string(backup))
	writeTo(t, folder, "journal.db-journal", "a journal")
	wantRefusalWith(t, "restore "+withJournal, i.run("restore --replace "+withJournal), exitFailed,
		"has a log (-journal) beside it")

	dump := "The database is PostgreSQL, which has tools of its own for that: " +
		"pg_dump, pg_restore, and VACUUM FULL to shrink its files."
	for _, line := range []string{"backup " + file + ".2", "restore " + file} {
		wantRefusal(t, line, installation{t, "postgres://u:s3cret@127.0.0.1:1/d"}.run(line), exitFailed, dump)
		verb, _, _ := strings.Cut(line, " ")
		wantRefusalWith(t, verb, i.run(verb+" postgres://u:s3cret@h/d"), exitUsage, "something that may hold a password")
	}
}

// TestRestoreOverDamage checks that a damaged database and its log are kept, because an operator may want to save some
// of it.
func TestRestoreOverDamage(t *testing.T) {
	t.Parallel()
	i, cfg, file := backedUp(t)
	want, path := contents(t, cfg), database.SQLitePath(cfg)
	for name, text := range map[string]string{path: strings.Repeat("damage ", 10_000), path + "-wal": "its log"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	wantRefusalWith(t, "restore", i.run("restore --replace "+file), exitFailed,
		"cannot be read, so what was deleted or revoked there since the backup would come back. Add --with-deleted to "+
			"accept that.")
	got := i.do("restore --replace --with-deleted " + file)
	_, oldPath, _ := strings.Cut(strings.TrimSuffix(got, ".\n"), "The old database is kept at ")
	if got := contents(t, cfg); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for name, want := range map[string]string{oldPath: "damage damage", oldPath + "-wal": "its log"} {
		if text, err := os.ReadFile(name); err != nil || !strings.HasPrefix(string(text), want) {
			t.Errorf("%s: got %.20q, error %v, want %q", name, text, err, want)
		}
	}
	wantNames(t, filepath.Dir(path), []string{filepath.Base(path), filepath.Base(oldPath),
		fmt.Sprint(filepath.Base(oldPath), "-wal")})
}

// wantNames wants a folder to have files of those names and no others.
func wantNames(t *testing.T, folder string, want []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("got the files %q, want %q", names, want)
	}
}

// TestBackupKeep checks that a folder keeps as many backups as asked, and every file that is not a backup of the
// database.
func TestBackupKeep(t *testing.T) {
	t.Parallel()
	i, other := install(t), database.SQLite(t)
	db := database.SQL(t, other)
	if _, err := db.ExecContext(t.Context(), "UPDATE installation SET uid = 'another'"); err != nil || db.Close() != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	foreign := []string{"gluepot.db", "gluepot-20200101T000000.000Z.db", "gluepot-20200102T000000.000Z.db",
		"gluepot-20200103.db"}
	i.do("backup " + filepath.Join(folder, foreign[0]))
	writeTo(t, folder, foreign[1], "somebody's notes")
	installation{t, other.URL}.do("backup " + filepath.Join(folder, foreign[2]))
	i.do("backup " + filepath.Join(folder, foreign[3]))
	if err := os.Mkdir(filepath.Join(folder, "gluepot-20200104T000000.000Z.db"), 0o700); err != nil {
		t.Fatal(err)
	}
	foreign = append(foreign, "gluepot-20200104T000000.000Z.db")

	var names []string
	for n := range 4 {
		got := i.do("backup --keep 2 " + folder)
		path := regexp.MustCompile(`^The database is backed up to (.*)\.\n`).FindStringSubmatch(got)
		if path == nil {
			t.Fatalf("got %q, want where it is", got)
		}
		names = append(names, filepath.Base(path[1]))
		said := ""
		if n >= 2 {
			said = "Removed " + filepath.Join(folder, names[n-2]) + ".\n"
		}
		if rest := strings.TrimPrefix(got, path[0]); rest != said {
			t.Errorf("got %q, want %q", rest, said)
		}
		wantNames(t, folder, slices.Concat(foreign, names[max(0, n-1):]))
	}
	restored := installation{t, "sqlite://" + filepath.Join(t.TempDir(), "gluepot.db")}
	restored.do("restore " + filepath.Join(folder, names[3]))

	// What fails removes nothing.
	if err := os.WriteFile(database.SQLitePath(gormstore.Config{URL: i.url}), []byte("damage"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := i.run("backup --keep 1 " + folder); got.code != exitFailed {
		t.Errorf("got %+v, want a failure", got)
	}
	wantNames(t, folder, slices.Concat(foreign, names[2:]))
	wantRefusalWith(t, "backup", i.run("backup --keep 0 "+folder), exitUsage, "--keep is 0: it must be at least 1")
}
