package commands

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/application/copies"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// filled stores users, services, tokens, stars and pastes of every kind in a database.
func filled(t *testing.T, cfg gormstore.Config) gormstore.Config {
	t.Helper()
	program.Fixture(t, cfg)
	created := time.Date(2024, 2, 29, 1, 2, 3, 456789000, time.UTC)
	store := gormstore.NewPastes(database.Open(t, cfg))
	pasties := []paste.Pasty{{ID: "pasty001", Title: "a\x00b.go", Language: "Go", Code: "package a // \x00 ü 😀\r\n"}}
	results, err := store.Import(t.Context(), []paste.Document{
		{
			Paste: paste.Paste{ID: "private1", Owner: "mortar01", CreatedAt: created, ExpiresAt: created.Add(1e6 * time.Hour)},
			Content: paste.Content{
				Title: "secret", Visibility: paste.Private, Tags: []string{"a", "b"}, Lifetime: "1y", Pasties: pasties,
				Edits: []paste.Edit{
					{ID: "edit0001", Type: 0, Text: "before", At: created.Truncate(time.Second)},
					{ID: "edit0002", Number: 1, Type: 3, Metadata: []string{"pasty001"}, Text: "-\x00\n+b\n", At: created.Truncate(time.Second)},
				},
			},
		},
		{
			Paste: paste.Paste{ID: "cipher01", Owner: "epoxy001", CreatedAt: created},
			Content: paste.Content{
				Lifetime: "never", Cipher: &paste.Cipher{Data: []byte("\x00\xff data"), Key: []byte{0}, Salt: []byte("salt")},
			},
		},
		{
			Paste:   paste.Paste{ID: "ended001", CreatedAt: created, ExpiresAt: created.Add(time.Hour)},
			Content: paste.Content{Lifetime: "1h", Pasties: pasties},
		},
	}, paste.RefuseOrphans)
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range results {
		if result.Err != nil {
			t.Fatal(result.Err)
		}
	}
	return cfg
}

// comparison is a line of "copy --json".
type comparison struct {
	Table                          string
	Added, Changed, Removed        int64
	SourceRows, TargetRows         int64
	SourceChecksum, TargetChecksum string
	Equal                          bool
}

// copyAll runs "copy" and wants it to end with both sides equal.
func copyAll(t *testing.T, from, to gormstore.Config, flags ...string) map[string]comparison {
	t.Helper()
	got := run(t, append([]string{"copy", "--json", "--from", string(from.URL), "--to", string(to.URL)}, flags...)...)
	if got.code != exitOK || got.stderr != "" {
		t.Fatalf("got %+v, want exit code 0 and no standard error", got)
	}
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

// uncopied are the tables that a copy leaves as the target's migrations have made them.
var uncopied = []string{"gluepot_migrations", "paste_quota_salt", "paste_quotas", "schema_compatibility"}

// contents returns every row of every table that holds what users have stored, as an SQLite database itself prints it.
func contents(t *testing.T, cfg gormstore.Config) string {
	t.Helper()
	db := database.SQL(t, cfg)
	defer db.Close() //nolint:errcheck // what is open cannot be replaced
	var text strings.Builder
	for _, table := range tablesOf(t, db) {
		if table == "gluepot_copy" || slices.Contains(uncopied, table) {
			continue
		}
		rows, err := db.QueryContext(t.Context(), "SELECT * FROM "+table+" ORDER BY 1, 2")
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

func tablesOf(t *testing.T, db *sql.DB) []string {
	t.Helper()
	return textsOf(t, db, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY 1")
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

// TestCopiedTables wants somebody who adds a table to decide whether it is copied.
func TestCopiedTables(t *testing.T) {
	t.Parallel()
	cfg := database.SQLite(t)
	left := slices.Clone(uncopied)
	for _, table := range gormstore.NewCopies(database.Open(t, cfg)).Tables() {
		left = append(left, table.Name)
	}
	slices.Sort(left)
	if got := tablesOf(t, database.SQL(t, cfg)); !slices.Equal(got, left) {
		t.Errorf("got the tables %v, want those that are copied or are known not to be: %v", got, left)
	}
}

// TestCopy copies from SQLite to PostgreSQL and back to another file, which holds what the first does, to the byte.
func TestCopy(t *testing.T) {
	t.Parallel()
	source, middle, target := filled(t, database.SQLite(t)), database.EmptyPostgres(t), database.EmptySQLite(t)
	there := copyAll(t, source, middle)
	back := copyAll(t, middle, target)
	want := map[string]int64{
		"users": 4, "user_services": 3, "access_tokens": 4, "pastes": 9, "paste_contents": 9, "paste_edits": 2, "stars": 4,
	}
	for table, rows := range want {
		c := there[table]
		if c.SourceRows != rows || c.Added != rows || c.Changed+c.Removed != 0 || c.SourceChecksum != back[table].SourceChecksum {
			t.Errorf("%s: got %+v and %+v, want %d rows of the same checksum, all added", table, c, back[table], rows)
		}
	}
	if len(there) != len(want) {
		t.Errorf("got %d tables, want %d", len(there), len(want))
	}
	if got, want := contents(t, target), contents(t, source); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// What others keep of the rows is right, too.
	stats := []string{"stats", "--json", "--database-url"}
	if got, want := run(t, append(stats, string(middle.URL))...), run(t, append(stats, string(source.URL))...); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// change changes what filled has stored, in every way that matters to a copy.
func change(t *testing.T, cfg gormstore.Config) {
	t.Helper()
	db := database.SQL(t, cfg)
	for _, statement := range []string{
		// Names and hashes move from one row to another.
		`UPDATE users SET username = 'moving' WHERE id = 'putty001'`,
		`UPDATE users SET username = 'putty' WHERE id = 'mortar01'`,
		`UPDATE users SET username = 'mortar' WHERE id = 'putty001'`,
		`CREATE TABLE gluepot_moving AS SELECT id, hash FROM access_tokens WHERE user_id = 'epoxy001'`,
		`UPDATE access_tokens SET hash = randomblob(32) WHERE user_id = 'epoxy001'`,
		`UPDATE access_tokens SET hash = (SELECT m.hash FROM gluepot_moving m WHERE m.id <> access_tokens.id AND m.id <> 'id-epoxy001ke')
			WHERE user_id = 'epoxy001' AND id <> 'id-epoxy001ke'`,
		`DROP TABLE gluepot_moving`,
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	i := installation{t, string(cfg.URL)}
	i.do("user delete ep_xy.a-b --yes")
	i.do("user update epoxy --supporter-months 3")
	i.do("user create newcomer")
	i.do("paste create --owner newcomer --title new " + writeTo(t, t.TempDir(), "a.go", "package a"))
	i.do("paste edit tie0000a --title other --public")
	i.do("paste delete tie0000b")
}

// TestCopyResumed changes the source after a copy in every way, and wants the copy to follow.
func TestCopyResumed(t *testing.T) {
	t.Parallel()
	for name, empty := range map[string]func(testing.TB) gormstore.Config{"postgres": database.EmptyPostgres, "sqlite": database.EmptySQLite} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source, target := filled(t, database.SQLite(t)), empty(t)
			copyAll(t, source, target)
			for table, c := range copyAll(t, source, target, "--resume") {
				if c.Added+c.Changed+c.Removed != 0 {
					t.Errorf("%s: got %+v, want nothing to do", table, c)
				}
			}
			change(t, source)
			resumed := copyAll(t, source, target, "--resume")
			for table, want := range map[string][3]int64{ // added, changed, removed
				"users":          {3, 1, 3}, // those whose names moved are added anew, and all that is theirs
				"access_tokens":  {4, 0, 3},
				"pastes":         {2, 1, 1},
				"paste_contents": {2, 1, 0},
			} {
				if c := resumed[table]; [3]int64{c.Added, c.Changed, c.Removed} != want {
					t.Errorf("%s: got %+v, want %v", table, c, want)
				}
			}
			back := database.EmptySQLite(t)
			copyAll(t, target, back)
			if got, want := contents(t, back), contents(t, source); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// TestCopyRefusals are of what a copy would harm, or could not complete.
func TestCopyRefusals(t *testing.T) {
	t.Parallel()
	source := filled(t, database.SQLite(t))
	from := string(source.URL)
	copied := func() (cfg gormstore.Config, url string) {
		cfg = database.EmptySQLite(t)
		copyAll(t, source, cfg)
		return cfg, string(cfg.URL)
	}
	statement := func(cfg gormstore.Config, text string) {
		t.Helper()
		if _, err := database.SQL(t, cfg).ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(line string, code int, parts ...string) {
		t.Helper()
		wantRefusalWith(t, line, run(t, strings.Fields(line)...), code, parts...)
	}
	refused("copy --from "+from, exitUsage, "give both --from and --to")
	refused("copy --from "+from+" --to "+from, exitUsage, "the same database")
	refused("copy --to "+from+" --from sqlite://"+t.TempDir()+"/none.db", exitFailed,
		"the source: There is no database at ", "check --from")
	refused("copy --from "+from+" --to postgres://u:se%ret@h/d", exitFailed, "the target: ", "not one that PostgreSQL clients understand")
	refused("copy --from "+from+" --to postgres://u:s3cret@127.0.0.1:1/d", exitFailed,
		"the target: Cannot reach", "postgres://u@127", "that --to is right")
	refused("copy --from "+empty(t).url+" --to "+from, exitFailed, "the source: The database lacks migrations")

	// A target that is no copy, with resume or without.
	other := filled(t, database.SQLite(t))
	want := contents(t, other)
	refused("copy --from "+from+" --to "+string(other.URL), exitFailed, "The target is not empty", "--resume")
	refused("copy --resume --from "+from+" --to "+string(other.URL), exitFailed, "what is in it is no copy")
	if got := contents(t, other); got != want || want == contents(t, source) {
		t.Errorf("got\n%s\nwant what it was, and not the source:\n%s", got, want)
	}

	// A copy that something was written to.
	used, usedURL := copied()
	statement(used, `UPDATE users SET contributor = NOT contributor WHERE id = 'putty001'`)
	want = contents(t, used)
	refused("copy --from "+from+" --to "+usedURL, exitFailed, "The target is not empty")
	refused("copy --resume --from "+from+" --to "+usedURL, exitFailed, "The target was written to since it was copied")
	if got := contents(t, used); got != want {
		t.Errorf("got\n%s\nwant it as it was:\n%s", got, want)
	}

	// A copy that has not ended.
	partial, partialURL := copied()
	statement(partial, `UPDATE gluepot_copy SET ended = NULL`)
	statement(partial, `DELETE FROM pastes`)
	refused("stats --database-url "+partialURL, exitFailed, "a copy that has not ended")
	refused("backup --database-url "+partialURL+" "+t.TempDir()+"/b.db", exitFailed, "a copy that has not ended")
	refused("serve --http-addr 127.0.0.1:0 --database-url "+partialURL, exitFailed, "a copy that has not ended")
	refused("copy --from "+partialURL+" --to "+string(database.EmptySQLite(t).URL), exitFailed, "The source is itself a copy that has not")
	copyAll(t, source, partial, "--resume")
	if got := run(t, "stats", "--database-url", partialURL); got.code != exitOK {
		t.Errorf("got %+v, want an end of the copy", got)
	}

	// What PostgreSQL has no way to keep.
	statement(source, `UPDATE access_tokens SET name = 'a' || char(0) || 'b' WHERE id = 'id-mortar01mo'`)
	refused("copy --from "+from+" --to "+string(database.EmptyPostgres(t).URL), exitFailed,
		"copy access_tokens: ", `the name of ["id-mortar01mo"]`)
}

// served is a target that a server has open, which stores something once the copy has begun.
type served struct {
	*gormstore.Copies

	store func()
}

// Begin implements copies.Target.
func (s served) Begin(ctx context.Context, run string) error {
	s.store()
	return s.Copies.Begin(ctx, run)
}

// TestCopyKeepsWhatIsStoredMeanwhile has a server store something in a target that was found empty. It may have been acknowledged,
// so that the copy fails and leaves it there.
func TestCopyKeepsWhatIsStoredMeanwhile(t *testing.T) {
	t.Parallel()
	const user = `INSERT INTO users (id, username, avatar_url, default_language, public_profile, supporter_months, contributor, created_at)
		VALUES ('late0001', '%s', '', 'Plain Text', false, 0, false, '2024-01-01 00:00:00+00:00')`
	for what, statement := range map[string]string{
		"user":     fmt.Sprintf(user, "late"),
		"username": fmt.Sprintf(user, "mortar"),
		"paste":    `INSERT INTO pastes (id, created_at) VALUES ('late0001', '2024-01-01 00:00:00+00:00')`,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			source := filled(t, database.SQLite(t))
			database.Each(t, func(t *testing.T, cfg gormstore.Config) {
				db := database.SQL(t, cfg)
				target := served{gormstore.NewCopies(database.Open(t, cfg)), func() {
					if _, err := db.ExecContext(t.Context(), statement); err != nil {
						t.Error(err)
					}
				}}
				_, err := copies.New(gormstore.NewCopies(database.Open(t, source)), target, nil).Do(t.Context(), false)
				if !errors.Is(err, copies.ErrInUse) {
					t.Errorf("got %v, want %v", err, copies.ErrInUse)
				}
				table, _, _ := strings.Cut(strings.TrimPrefix(statement, "INSERT INTO "), " ")
				var left int
				row := db.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table+" WHERE id = 'late0001'")
				if err := row.Scan(&left); err != nil || left != 1 {
					t.Errorf("got %d rows that were stored meanwhile, error %v, want 1", left, err)
				}
			})
		})
	}
}
