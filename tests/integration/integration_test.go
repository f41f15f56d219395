// Package integration tests what only a real database can show: exact counts with any writer, locks, and connections.
package integration

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/database"
)

var large = flag.Bool("large", false,
	"measure lookups beside the longest answers; read large pastes; sweep a long backlog")

func TestMain(m *testing.M) { os.Exit(database.Main(m)) }

func exec(t *testing.T, db interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}, statement string, args ...any,
) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatalf("%.200s: got %v, want no error", statement, err)
	}
}

// wantExact compares the count with the number of rows.
func wantExact(t *testing.T, pastes *gormstore.Pastes, db *sql.DB, after string) {
	t.Helper()
	got, err := pastes.ActiveCount(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var want int64
	if err := db.QueryRow("SELECT count(*) FROM pastes WHERE expires_at IS NULL AND removed_at IS NULL").Scan(
		&want); err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Errorf("after %s: got the count %d, want %d", after, got, want)
	}
}

// instants are expressions in SQL, for PostgreSQL (true) and SQLite (false).
var instants = map[bool]struct{ past, now string }{
	true:  {"'2001-01-01T00:00:00Z'", "now()"},
	false: {"978307200000000", "strftime('%s') * 1000000"},
}

// insertPastes returns a statement that stores empty pastes, with the values of these columns from a selection.
func insertPastes(columns, selection string) string {
	return "INSERT INTO pastes (lifetime, visibility, title, encrypted, pasties, tags, edits, content_bytes, " +
		"history_bytes, " + columns +
		") SELECT 'never', 0, '', false, 0, 0, 0, 0, 0, " + selection
}

func isPostgres(cfg gormstore.Config) bool { return strings.HasPrefix(cfg.URL, "postgres") }

func TestCountIsExactForAnyWriter(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		pastes, db := gormstore.NewPastes(database.Open(t, cfg)), database.SQL(t, cfg)
		db.SetMaxOpenConns(1)
		at := instants[isPostgres(cfg)]
		if !isPostgres(cfg) {
			exec(t, db, "PRAGMA foreign_keys = ON")
		}
		steps := []struct{ what, statement string }{
			{"a user", "INSERT INTO users (id, username, avatar_url, default_language, public_profile, " +
				"supporter_months, contributor, created_at)" +
				" VALUES ('u', 'u', '', 'x', true, 0, false, " + at.now + ")"},
			{"one row", insertPastes("id, owner_id, created_at", "'a', 'u', "+at.now)},
			{"many rows", insertPastes("id, owner_id, created_at", "'n' || x, 'u', "+at.now+
				" FROM (WITH RECURSIVE s(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM s WHERE x < 5000) SELECT x FROM s) n")},
			{"rows that expired long ago", insertPastes("id, created_at, expires_at", "'e' || id, "+at.past+", "+at.past+
				" FROM pastes WHERE id LIKE 'n1%'")},
			{"a row that expired before", insertPastes("id, created_at, expires_at", "'e', "+at.past+", "+at.past)},
			{"no row", insertPastes("id, created_at", "'x', "+at.now+" WHERE false")},
			{"an ignored conflict", insertPastes("id, created_at",
				"x, "+at.now+" FROM (SELECT 'a' x UNION SELECT 'b') n WHERE true"+
					" ON CONFLICT DO NOTHING")},
			{"an upsert", insertPastes("id, created_at", "x, "+at.now+" FROM (SELECT 'a' x UNION SELECT 'c') n WHERE true"+
				" ON CONFLICT (id) DO UPDATE SET created_at = excluded.created_at")},
			{"a change of expiry", "UPDATE pastes SET expires_at = " + at.past + " WHERE id IN ('n2', 'n3')"},
			{"and back", "UPDATE pastes SET expires_at = NULL WHERE id = 'n2'"},
			{"a change of expired pastes", "UPDATE pastes SET expires_at = NULL WHERE id LIKE 'en10%'"},
			{"an upsert of an expired paste", insertPastes("id, created_at", "'en111', "+at.now+" WHERE true"+
				" ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at")},
			{"deleting expired pastes", "DELETE FROM pastes WHERE id LIKE 'en12%'"},
			{"removing some", "UPDATE pastes SET removed_at = " + at.now + " WHERE id LIKE 'n6%' OR id LIKE 'en13%'"},
			{"removing them again", "UPDATE pastes SET removed_at = " + at.past + " WHERE removed_at IS NOT NULL"},
			{"restoring some", "UPDATE pastes SET removed_at = NULL WHERE id LIKE 'n61%' OR id LIKE 'en131%'"},
			{"a removed row", insertPastes("id, created_at, removed_at", "'removed', "+at.now+", "+at.now)},
			{"deleting removed ones", "DELETE FROM pastes WHERE id LIKE 'n62%' OR id = 'removed'"},
			{"a change of id", "UPDATE pastes SET id = 'renamed' WHERE id = 'n4'"},
			{"deleting some", "DELETE FROM pastes WHERE id LIKE 'n5%'"},
			{"deleting none", "DELETE FROM pastes WHERE false"},
			{"deleting the owner", "DELETE FROM users"},
			{"deleting the rest", "DELETE FROM pastes"},
		}
		if !isPostgres(cfg) {
			steps = append(steps, []struct{ what, statement string }{
				{"a row", insertPastes("id, created_at", "'a', 1")},
				{"replacing it", strings.Replace(insertPastes("id, created_at", "'a', 2"), "INSERT", "INSERT OR REPLACE", 1)},
			}...)
		} else {
			steps = append(steps, []struct{ what, statement string }{
				{"a row", insertPastes("id, created_at", "'a', now()")},
				{"another search path", "SET search_path TO pg_catalog;" + strings.Replace(insertPastes("id, created_at",
					"'d', now()"),
					"pastes", "public.pastes", 1) + "; RESET search_path"},
				{"merging", "MERGE INTO pastes p USING (VALUES ('a'), ('f')) v (id) ON p.id = v.id" +
					" WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (id, created_at, lifetime, visibility, title, " +
					"encrypted, pasties," +
					" tags, edits, content_bytes, history_bytes) VALUES (v.id, now(), '', 0, '', false, 0, 0, 0, 0, 0)"},
				{"truncating", "TRUNCATE pastes CASCADE"},
				{"a row", insertPastes("id, created_at", "'a', now()")},
			}...)
		}
		for _, step := range steps {
			exec(t, db, step.statement)
			wantExact(t, pastes, db, step.what)
		}
		tx, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		exec(t, tx, insertPastes("id, created_at", "'rolled back', "+at.now))
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		wantExact(t, pastes, db, "a rollback")
	})
}

func TestCountUnderConcurrentWriters(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		pastes, db := gormstore.NewPastes(database.Open(t, cfg)), database.SQL(t, cfg)
		now := instants[isPostgres(cfg)].now
		var writers sync.WaitGroup
		for w := range 8 {
			writers.Go(func() {
				for i := range 50 {
					exec(t, db, insertPastes("id, created_at", fmt.Sprintf("'w%d-%d', %s", w, i, now)))
					if i%5 == 0 {
						exec(t, db, fmt.Sprintf("DELETE FROM pastes WHERE id = 'w%d-%d'", w, i))
					}
				}
			})
		}
		writers.Wait()
		wantExact(t, pastes, db, "eight writers")
	})
}

func TestCountAfterCopy(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	pool, err := pgxpool.New(t.Context(), cfg.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	rows := make([][]any, 10_000)
	for i := range rows {
		rows[i] = []any{fmt.Sprint("copied", i), time.Now(), "never", 0, "", false, 0, 0, 0, 0, 0}
	}
	columns := []string{"id", "created_at", "lifetime", "visibility", "title", "encrypted", "pasties", "tags", "edits",
		"content_bytes",
		"history_bytes"}
	if _, err := pool.CopyFrom(t.Context(), pgx.Identifier{"pastes"}, columns, pgx.CopyFromRows(rows)); err != nil {
		t.Fatal(err)
	}
	wantExact(t, gormstore.NewPastes(database.Open(t, cfg)), database.SQL(t, cfg), "COPY")
}

// TestCountReadsNoTable checks that counting costs the same however many pastes there are.
func TestCountReadsNoTable(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	pastes, db := gormstore.NewPastes(database.Open(t, cfg)), database.SQL(t, cfg)
	db.SetMaxOpenConns(1)
	exec(t, db, insertPastes("id, created_at", "'p' || x, now() FROM generate_series(1, 20000) x"))
	exec(t, db, "VACUUM ANALYZE pastes")
	read := func() (scans, tuples int64) {
		exec(t, db, "SELECT pg_stat_force_next_flush()")
		row := db.QueryRow(
			"SELECT seq_scan, seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables WHERE relname = 'pastes'")
		if err := row.Scan(&scans, &tuples); err != nil {
			t.Fatal(err)
		}
		return scans, tuples
	}
	scans, tuples := read()
	for range 10 {
		if count, err := pastes.ActiveCount(t.Context()); err != nil || count != 20_000 {
			t.Fatalf("got the count %d, error %v, want 20000", count, err)
		}
	}
	time.Sleep(1200 * time.Millisecond) // the other session's statistics arrive after a second
	if _, err := pastes.ActiveCount(t.Context()); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond)
	if scansAfter, tuplesAfter := read(); scansAfter != scans || tuplesAfter != tuples {
		t.Errorf("got %d scans of the table and %d rows read, want none", scansAfter-scans, tuplesAfter-tuples)
	}
}

// addOwner stores a user with this many numbered pastes, all created at the same moment.
func addOwner(t *testing.T, db *sql.DB, cfg gormstore.Config, owner string, pastes int) {
	t.Helper()
	now := instants[isPostgres(cfg)].now
	exec(t, db, "INSERT INTO users (id, username, avatar_url, default_language, public_profile, supporter_months, "+
		"contributor, created_at)"+
		" VALUES ($1, $1, '', '', true, 0, false, "+now+")", owner)
	exec(t, db, insertPastes("id, owner_id, created_at", fmt.Sprintf(`'%s' || (1000000 + n), '%s', %s
		FROM (WITH RECURSIVE s (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM s WHERE n < %d) SELECT n FROM s
			WHERE n > 0) numbers`,
		owner, owner, now, pastes)))
}

func listIDs(t *testing.T, store *gormstore.Pastes, owner user.ID) (ids []string) {
	t.Helper()
	listOwn := pastes.New(store, nil, pastes.Options{}, time.Now).ListOwn
	if err := listOwn.Do(t.Context(), token.Viewer{User: user.User{ID: owner}}, func(page []paste.ID) error {
		for _, id := range page {
			ids = append(ids, string(id))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return ids
}

// TestListing reads a long list, and a list with ids that only another writer can store.
func TestListing(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		pastes, db := gormstore.NewPastes(database.Open(t, cfg)), database.SQL(t, cfg)
		addOwner(t, db, cfg, "many", 50_000)
		addOwner(t, db, cfg, "odd", 0)
		if ids := listIDs(t, pastes, "many"); len(ids) != 50_000 || ids[0] != "many1050000" || ids[49_999] != "many1000001" {
			t.Errorf("got %d ids, want 50000, the newest first", len(ids))
		}
		odd := []string{"z\nz", "z\n", "z", "\n", ""}
		for _, id := range odd {
			exec(t, db, insertPastes("id, owner_id, created_at", "$1, 'odd', created_at FROM users WHERE id = 'odd'"), id)
		}
		if got := listIDs(t, pastes, "odd"); !slices.Equal(got, odd) {
			t.Errorf("got %q, want %q", got, odd)
		}
		if got := listIDs(t, pastes, "nobody"); len(got) != 0 {
			t.Errorf("got %q, want none", got)
		}
	})
}

// TestSweepersAtOnce checks that a sweep skips the pastes that another node is removing, without waiting.
func TestSweepersAtOnce(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	pastes, db := gormstore.NewPastes(database.Open(t, cfg)), database.SQL(t, cfg)
	exec(t, db, insertPastes("id, created_at, expires_at", "'p' || x, now(), now() FROM generate_series(1, 10) x"))
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	exec(t, tx, "DELETE FROM pastes WHERE id IN ('p1', 'p2', 'p3')")
	if removed, err := pastes.RemoveExpired(t.Context(), 0, 100); removed != 7 || err != nil {
		t.Errorf("beside another node: got %d removed, error %v, want 7", removed, err)
	}
	if err := tx.Rollback(); err != nil { // as when that node crashes
		t.Fatal(err)
	}
	if removed, err := pastes.RemoveExpired(t.Context(), 0, 100); removed != 3 || err != nil {
		t.Errorf("got %d removed, error %v, want 3", removed, err)
	}
}
