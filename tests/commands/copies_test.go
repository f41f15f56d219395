package commands

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/application/copies"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
	domain "github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/contract"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// filled stores users, identities, tokens, stars, pastes of every kind, tombstones and an act in a database.
func filled(t *testing.T, cfg gormstore.Config) gormstore.Config {
	t.Helper()
	program.Fixture(t, cfg)
	created := time.Date(2024, 2, 29, 1, 2, 3, 456789000, time.UTC)
	opened := database.Open(t, cfg)
	store, moderation := gormstore.NewPastes(opened), gormstore.NewModeration(opened)
	pasties := []paste.Pasty{{ID: "pasty001", Title: "a\x00b.go", Language: "Go", Code: "package a // \x00 ü 😀\r\n"}}
	users := gormstore.NewUsers(opened)
	formerName, _ := user.ParseName("putty")
	renamed, err := users.ByName(t.Context(), formerName)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"filler", "putty"} {
		_, _, err := users.Update(t.Context(), netip.Addr{}, auditlog.Entry{}, renamed.ID,
			func(u *user.User, _ map[string]string) (err error) {
				u.Name, err = user.ParseName(name)
				return err
			})
		if err != nil {
			t.Fatal(err)
		}
	}
	_, _, err = users.Update(t.Context(), netip.Addr{}, auditlog.Entry{}, "mortar01",
		func(_ *user.User, services map[string]string) error {
			services["github"] = "24"
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	results, err := store.Import(t.Context(), contract.Whole(
		paste.Document{
			Paste: paste.Paste{ID: "private1", Owner: "mortar01", CreatedAt: created, ExpiresAt: created.Add(1e6 * time.Hour)},
			Content: paste.Content{
				Title: "secret", Visibility: paste.Private, Tags: []string{"a", "b"}, Lifetime: "1y", Pasties: pasties,
				Edits: []paste.Edit{
					{ID: "edit0001", Type: 0, Text: "before", At: created.Truncate(time.Second)},
					{ID: "edit0002", Number: 1, Type: 3, Metadata: []string{"pasty001"}, Text: "-\x00\n+b\n",
						At: created.Truncate(time.Second)},
				},
			},
		},
		paste.Document{
			Paste: paste.Paste{ID: "cipher01", Owner: "epoxy001", CreatedAt: created},
			Content: paste.Content{
				Lifetime: "never", Cipher: &paste.Cipher{Data: []byte("\x00\xff data"), Key: []byte{0}, Salt: []byte("salt")},
			},
		},
		paste.Document{
			Paste:   paste.Paste{ID: "ended001", CreatedAt: created, ExpiresAt: created.Add(time.Hour)},
			Content: paste.Content{Lifetime: "1h", Pasties: pasties},
		},
	), paste.RefuseOrphans)
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range results {
		if result.Err != nil {
			t.Fatal(result.Err)
		}
	}
	deleted := paste.Document{Paste: paste.Paste{ID: "deleted1", CreatedAt: created},
		Content: paste.Content{Lifetime: "never", Pasties: pasties}}
	removed := deleted
	removed.ID = "removed1"
	for _, err := range []error{
		store.CreateDocument(t.Context(), deleted), store.CreateDocument(t.Context(), removed),
		store.DeleteIf(t.Context(), auditlog.Entry{}, deleted.ID, func(paste.Paste) error { return nil }),
		gormstore.NewIdentities(opened).StoreInvitation(t.Context(), auditlog.Entry{}, identity.Invitation{
			ID: "inv00001", Uses: 1, Note: "ü", CreatedAt: created, ExpiresAt: created,
		}),
		gormstore.NewIdentities(opened).ChangeCredentials(t.Context(), netip.Addr{}, "mortar01", "",
			func(_ user.User, credentials *identity.Credentials) error {
				credentials.Password = "$argon2id$ü"
				credentials.Passkeys = []identity.Passkey{{ID: "passkey1", Name: "ü", PublicKey: []byte{0, 0xff}, Counter: 7,
					CreatedAt: created}}
				return nil
			}),
		gormstore.NewIdentities(opened).StoreLink(t.Context(), auditlog.Entry{}, identity.OneTimeLink{
			Hash: identity.Hash{1}, Owner: "mortar01", ExpiresAt: time.Now().Add(time.Hour),
		}),
		moderation.Remove(t.Context(), audit.Operator().Entry("paste.remove", "removed1", "spam"), removed.ID, "spam"),
		moderation.Block(t.Context(), audit.Operator().Entry("block.add", "192.0.2.0/24", "spam"), domain.Block{
			Network: netip.MustParsePrefix("192.0.2.0/24"), Reason: "spam", CreatedAt: created,
		}),
		moderation.Report(t.Context(), netip.Addr{}, domain.Report{
			ID: "private1-r", Paste: "private1", Reason: "spam", Text: "ü\n", At: created,
		}, "mortar01", "client", paste.Quota{Pastes: 1, Window: time.Hour}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return cfg
}

// comparison is a line of "copy --json".
type comparison struct {
	Table                          string
	SourceRows, TargetRows         int64
	SourceChecksum, TargetChecksum string
	Equal                          bool
}

// copyAll runs "copy" and wants it to end with both sides equal.
func copyAll(t *testing.T, from, to gormstore.Config) map[string]comparison {
	t.Helper()
	got := run(t, "copy", "--json", "--from", from.URL, "--to", to.URL)
	if got.code != exitOK || got.stderr != "" {
		t.Fatalf("got %+v, want exit code 0 and no standard error", got)
	}
	database.WantAnalyzed(t, to)
	tables := map[string]comparison{}
	for line := range strings.Lines(got.stdout) {
		var c comparison
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatalf("got %q, want JSON: %v", line, err)
		}
		if !c.Equal || c.SourceRows != c.TargetRows || c.SourceChecksum != c.TargetChecksum || len(c.SourceChecksum) != 64 {
			t.Errorf("got %+v, want both sides equal", c)
		}
		tables[c.Table] = c
	}
	return tables
}

// TestCopySaysWhatBecomesOfTheSource checks the warning about later commands without the URL, which would find the old
// file.
func TestCopySaysWhatBecomesOfTheSource(t *testing.T) {
	t.Parallel()
	from, to := database.SQLite(t), database.EmptyPostgres(t)
	got := run(t, "copy", "--from", from.URL, "--to", to.URL)
	want := "gluepot: Servers and commands use the copy only if GLUEPOT_DATABASE_URL is its URL. Move the file " +
		database.SQLitePath(from) +
		" away, with its -wal and -shm: a command without that variable may find it, and work on the old data.\n"
	if got.code != exitOK || got.stderr != want {
		t.Errorf("got %+v, want %s", got, want)
	}
	back := run(t, "copy", "--from", to.URL, "--to", database.EmptySQLite(t).URL)
	want = "gluepot: Servers and commands use the copy only if GLUEPOT_DATABASE_URL is its URL. " +
		"Delete the source when you no longer need it.\n"
	if back.code != exitOK || back.stderr != want {
		t.Errorf("got %+v, want %s", back, want)
	}
}

// uncopied are the tables that a copy leaves as the target's migrations have made them.
var uncopied = []string{
	"gluepot_versions", "installation", "one_time_links", "passkey_ceremonies", "paste_origins", "paste_quota_salt",
	"paste_quotas", "search_remains",
	"sign_in_attempts",
}

// contents returns every row of every table that holds what users have stored, as an SQLite database itself prints it.
func contents(t *testing.T, cfg gormstore.Config) string {
	t.Helper()
	db := database.SQL(t, cfg)
	defer db.Close() //nolint:errcheck // what is open cannot be replaced
	var text strings.Builder
	for _, table := range tablesOf(t, db) {
		if slices.Contains(uncopied, table) {
			continue
		}
		read := "*"
		if table == "paste_texts" { // without the number of the row, which a copy makes anew
			read = "paste_id, public, titles, text, tags, languages"
		}
		rows, err := db.QueryContext(t.Context(), "SELECT "+read+" FROM "+table+" ORDER BY 1, 2")
		if err != nil {
			t.Fatal(err)
		}
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		values, fields := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			fields[i] = &values[i]
		}
		defer rows.Close() //nolint:errcheck // Err says it
		for rows.Next() {
			if err := rows.Scan(fields...); err != nil {
				t.Fatal(err)
			}
			text.WriteString(table)
			for _, value := range values {
				switch value := value.(type) {
				case string, []byte:
					fmt.Fprintf(&text, " %q", value)
				default:
					fmt.Fprintf(&text, " %v", value)
				}
			}
			text.WriteString("\n")
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return text.String()
}

// tablesOf returns the names of the tables, but for those of an index.
func tablesOf(t *testing.T, db *sql.DB) []string {
	t.Helper()
	return textsOf(t, db, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
		AND name NOT LIKE 'paste_texts_by_trigram%' ORDER BY 1`)
}

// textsOf returns what a query of one column finds.
func textsOf(t *testing.T, db *sql.DB, query string) (texts []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // Err says it
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return texts
}

// TestCopiedTables fails when somebody adds a table, until they decide whether it is copied.
func TestCopiedTables(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	tables := slices.Clone(uncopied)
	for _, table := range gormstore.NewCopies(database.Open(t, cfg)).Tables() {
		tables = append(tables, table.Name)
	}
	slices.Sort(tables)
	if got := tablesOf(t, database.SQL(t, cfg)); !slices.Equal(got, tables) {
		t.Errorf("got the tables %v, want those that are copied or are known not to be: %v", got, tables)
	}
}

// TestCopy copies from SQLite to PostgreSQL and back to another file, and compares that with the first, byte by byte.
func TestCopy(t *testing.T) {
	t.Parallel()
	source, middle, target := filled(t, database.SQLite(t)), database.EmptyPostgres(t), database.EmptySQLite(t)
	there := copyAll(t, source, middle)
	back := copyAll(t, middle, target)
	want := map[string]int64{
		"users": 4, "identities": 3, "unlinked_identities": 1, "passwords": 1, "passkeys": 1, "access_tokens": 4,
		"pastes": 10, "pasties": 3, "paste_tags": 2,
		"paste_edits": 2, "paste_ciphers": 1,
		"stars": 5, "tombstones": 2, "former_names": 2, "audit_log": 2, "blocks": 1, "reports": 1,
		"paste_texts": 6, "invitations": 1, "user_deletions": 0,
	}
	for table, rows := range want {
		c := there[table]
		if c.SourceRows != rows || c.SourceChecksum != back[table].SourceChecksum {
			t.Errorf("%s: got %+v and %+v, want %d rows of the same checksum", table, c, back[table], rows)
		}
	}
	if len(there) != len(want) {
		t.Errorf("got %d tables, want %d", len(there), len(want))
	}
	if got, want := contents(t, target), contents(t, source); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// What others keep of the rows is right, too.
	stats := func(of gormstore.Config) string {
		printed := run(t, "stats", "--json", "--database-url", of.URL).stdout
		return regexp.MustCompile(`"databaseBytes":[0-9]+,`).ReplaceAllString(printed, "")
	}
	if got, want := stats(middle), stats(source); got != want || got == "" {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestCopyChangesNoSource copies from a file that no server has open, and checks that no byte of it changes.
func TestCopyChangesNoSource(t *testing.T) {
	t.Parallel()
	_, source, _ := backedUp(t)
	before, err := os.ReadFile(database.SQLitePath(source))
	if err != nil {
		t.Fatal(err)
	}
	copyAll(t, source, database.EmptySQLite(t))
	if after, err := os.ReadFile(database.SQLitePath(source)); err != nil || !bytes.Equal(after, before) {
		t.Errorf("got a source that has changed, error %v, want it as it was", err)
	}
}

// execute executes a statement on a database.
func execute(t *testing.T, cfg gormstore.Config, statement string) {
	t.Helper()
	db := database.SQL(t, cfg)
	defer db.Close() //nolint:errcheck // what is open cannot be replaced
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// TestCopyRefusals checks what a copy refuses because it would do harm, or could not finish.
func TestCopyRefusals(t *testing.T) {
	t.Parallel()
	source := filled(t, database.SQLite(t))
	from := source.URL
	refused := func(line string, code int, parts ...string) {
		t.Helper()
		wantRefusalWith(t, line, run(t, strings.Fields(line)...), code, parts...)
	}
	refused("copy --from "+from, exitUsage, "give --to")
	refused("copy --from "+from+" --to "+from, exitUsage, "the same database")
	refused("copy --to "+from+" --from sqlite://"+t.TempDir()+"/none.db", exitFailed,
		"the source: There is no database at ", "none.db: check --from.\n")
	refused("copy --from "+from+" --to postgres://u:se%ret@h/d", exitFailed, "the target: ",
		"not one that PostgreSQL clients understand")
	refused("copy --from "+from+" --to postgres://u:s3cret@127.0.0.1:1/d", exitFailed,
		"the target: Cannot reach", "postgres://u@127", "that --to is right")
	refused("copy --from "+empty(t).url+" --to "+from, exitFailed, "the source: The database lacks migrations")

	// A target that holds something.
	other := filled(t, database.SQLite(t))
	execute(t, other, `UPDATE installation SET uid = 'another'`)
	want := contents(t, other)
	refused("copy --from "+from+" --to "+other.URL, exitFailed, "The target is not empty")
	if got := contents(t, other); got != want {
		t.Errorf("got\n%s\nwant what it was:\n%s", got, want)
	}

	// A copy that has not ended.
	partial := database.EmptySQLite(t)
	copyAll(t, source, partial)
	execute(t, partial, `UPDATE installation SET copying_from = '`+uidOf(t, source)+` run'`)
	execute(t, partial, `DELETE FROM pastes WHERE id <> 'private1'`)
	url, unused := partial.URL, database.EmptySQLite(t)
	const unended = "the target of an unfinished copy"
	refused("stats --database-url "+url, exitFailed, unended)
	refused("backup --database-url "+url+" "+t.TempDir()+"/b.db", exitFailed, unended)
	refused("serve --http-addr 127.0.0.1:0 --database-url "+url, exitFailed, unended)
	refused("serve --read-only --http-addr 127.0.0.1:0 --database-url "+url, exitFailed, unended)
	refused("copy --from "+url+" --to "+unused.URL, exitFailed, "the source: ", unended)
	if _, err := os.Stat(database.SQLitePath(unused)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got a target, error %v, want none: its source was refused", err)
	}
	want = contents(t, partial)
	refused("copy --from "+other.URL+" --to "+url, exitFailed, "an unfinished copy of another database")
	if got := contents(t, partial); got != want {
		t.Errorf("got\n%s\nwant what it was:\n%s", got, want)
	}
	copyAll(t, source, partial)
	if got := run(t, "stats", "--database-url", url); got.code != exitOK || contents(t, partial) != contents(t, source) {
		t.Errorf("got %+v, want an end of the copy", got)
	}

	// What PostgreSQL has no way to keep.
	execute(t, source, `UPDATE access_tokens SET name = 'a' || char(0) || 'b' WHERE id = 'id-mortar01mo'`)
	refused("copy --from "+from+" --to "+database.EmptyPostgres(t).URL, exitFailed, "copy access_tokens: ", "0x00")
}

func uidOf(t *testing.T, cfg gormstore.Config) string {
	t.Helper()
	installation, err := gormstore.NewCopies(database.Open(t, cfg)).Installation(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return installation.UID
}

// TestCopyWithoutMigrating checks that a copy neither creates nor migrates its target if a setting forbids that, but
// uses a target that has the schema.
func TestCopyWithoutMigrating(t *testing.T) {
	t.Parallel()
	source := filled(t, database.SQLite(t))
	copying := func(to gormstore.Config) result {
		return run(t, "copy", "--database-migrate=false", "--json", "--from", source.URL, "--to", to.URL)
	}
	file, postgres := database.EmptySQLite(t), database.EmptyPostgres(t)
	wantRefusalWith(t, "to no file", copying(file), exitFailed, "the target: There is no database at")
	if _, err := os.Stat(database.SQLitePath(file)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got a target, error %v, want none", err)
	}
	wantRefusalWith(t, "to no tables", copying(postgres), exitFailed, "the target: The database lacks migrations")
	const tables = `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace`
	if got := textsOf(t, database.SQL(t, postgres), tables); len(got) > 0 {
		t.Errorf("got the tables %q, want none", got)
	}
	count := len(gormstore.NewCopies(nil).Tables())
	if got := copying(database.Postgres(t)); got.code != exitOK || strings.Count(got.stdout, `"equal":true`) != count {
		t.Errorf("got %+v, want a copy of %d tables", got, count)
	}
}

// served is a target that a server has open, which stores something once the copy has begun.
type served struct {
	*gormstore.Copies

	store func()
}

// Begin implements copies.Target.
func (s served) Begin(ctx context.Context, source, run string) error {
	err := s.Copies.Begin(ctx, source, run)
	s.store()
	return err
}

// TestCopyFindsWhatIsStoredMeanwhile lets a server write to a target that the copy found empty, and checks that the
// copy fails.
func TestCopyFindsWhatIsStoredMeanwhile(t *testing.T) {
	t.Parallel()
	const user = `INSERT INTO users (id, username, avatar_url, default_language,
		public_profile, supporter_months, contributor, created_at)
		VALUES ('late0001', '%s', '', 'Plain Text', false, 0, false, '2024-01-01 00:00:00+00:00')`
	for what, statement := range map[string]string{
		"user":      fmt.Sprintf(user, "late"),
		"username":  fmt.Sprintf(user, "mortar"),
		"tombstone": `INSERT INTO tombstones (kind, id, deleted_at) VALUES ('user', 'late0001', '2024-01-01 00:00:00+00:00')`,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			source := filled(t, database.SQLite(t))
			database.Each(t, func(t *testing.T, cfg gormstore.Config) {
				target := served{gormstore.NewCopies(database.Open(t, cfg)), func() { execute(t, cfg, statement) }}
				compared, err := copies.New(gormstore.NewCopies(database.Open(t, source)), target, nil).Do(t.Context(),
					audit.Operator())
				equal := err == nil
				for _, c := range compared {
					equal = equal && c.Equal()
				}
				if equal || err != nil && !fault.Is(err, fault.Conflict) {
					t.Errorf("got %+v, error %v, want a difference or a conflict", compared, err)
				}
				if installation, err := target.Installation(t.Context()); err != nil || !installation.Copying {
					t.Errorf("got %+v, error %v, want a copy that has not ended", installation, err)
				}
			})
		})
	}
}

// TestCopyGivenUp uses the target of an abandoned copy, after the steps in the documentation.
func TestCopyGivenUp(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		store := database.Open(t, cfg)
		if err := gormstore.NewCopies(store).Begin(t.Context(), "a source", "a run"); err != nil {
			t.Fatal(err)
		}
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		i := installation{t, cfg.URL}
		i.wantRefused("user create ann", "The database is the target of an unfinished copy. Run 'gluepot copy' again.")
		if strings.HasPrefix(cfg.URL, "sqlite") {
			for _, suffix := range []string{"", "-wal", "-shm"} {
				if err := os.Remove(database.SQLitePath(cfg) + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Fatal(err)
				}
			}
		} else {
			execute(t, cfg, "DROP SCHEMA public CASCADE; CREATE SCHEMA public")
		}
		i.do("migrate up")
		i.do("user create ann")
	})
}
