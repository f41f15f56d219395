// Package integration checks what only a real database can show: exact counts whoever writes, and one
// sweeper at a time.
package integration

import (
	"context"
	"database/sql"
	"errors"
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
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/database"
)

var large = flag.Bool("large", false, "show how look-ups fare beside the longest answers; read the largest pastes")

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

// wantExact compares the count with the rows that are there.
func wantExact(t *testing.T, pastes *gormstore.Pastes, db *sql.DB, after string) {
	t.Helper()
	counted, err := pastes.ActiveCount(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var real int64
	if err := db.QueryRow("SELECT count(*) FROM pastes WHERE expires_at IS NULL").Scan(&real); err != nil {
		t.Fatal(err)
	}
	if counted != real {
		t.Errorf("after %s: got %d counted, want %d", after, counted, real)
	}
}

// The instants that plain SQL of both databases takes.
var instants = map[bool]struct{ past, now string }{
	true:  {"'2001-01-01T00:00:00Z'", "now()"},
	false: {"978307200000000", "strftime('%s') * 1000000"},
}

func isPostgres(cfg gormstore.Config) bool { return strings.HasPrefix(string(cfg.URL), "postgres") }

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
			{"one row", "INSERT INTO pastes (id, owner_id, created_at) VALUES ('a', 'u', " + at.now + ")"},
			{"many rows", "INSERT INTO pastes (id, owner_id, created_at) SELECT 'n' || x, 'u', " + at.now +
				" FROM (WITH RECURSIVE s(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM s WHERE x < 5000) SELECT x FROM s) n"},
			{"rows that expired long ago", "INSERT INTO pastes (id, created_at, expires_at) SELECT 'e' || id, " + at.past + ", " + at.past +
				" FROM pastes WHERE id LIKE 'n1%'"},
			{"no row", "INSERT INTO pastes (id, created_at) SELECT 'x', " + at.now + " WHERE false"},
			{"a conflict passed over", "INSERT INTO pastes (id, created_at) VALUES ('a', " + at.now + "), ('b', " + at.now +
				") ON CONFLICT DO NOTHING"},
			{"an upsert", "INSERT INTO pastes (id, created_at) VALUES ('a', " + at.now + "), ('c', " + at.now + ")" +
				" ON CONFLICT (id) DO UPDATE SET created_at = excluded.created_at"},
			{"a change of expiry", "UPDATE pastes SET expires_at = " + at.past + " WHERE id IN ('n2', 'n3')"},
			{"and back", "UPDATE pastes SET expires_at = NULL WHERE id = 'n2'"},
			{"a change of id", "UPDATE pastes SET id = 'renamed' WHERE id = 'n4'"},
			{"deleting some", "DELETE FROM pastes WHERE id LIKE 'n5%'"},
			{"deleting none", "DELETE FROM pastes WHERE false"},
			{"deleting the owner", "DELETE FROM users"},
			{"and what is left", "DELETE FROM pastes"},
		}
		if !isPostgres(cfg) {
			steps = append(steps, []struct{ what, statement string }{
				{"a row", "INSERT INTO pastes (id, created_at) VALUES ('a', 1)"},
				{"replacing it", "INSERT OR REPLACE INTO pastes (id, created_at) VALUES ('a', 2)"},
			}...)
		} else {
			steps = append(steps, []struct{ what, statement string }{
				{"a row", "INSERT INTO pastes (id, created_at) VALUES ('a', now())"},
				{"another search path", "SET search_path TO pg_catalog;" +
					" INSERT INTO public.pastes (id, created_at) VALUES ('d', now()); RESET search_path"},
				{"merging", "MERGE INTO pastes p USING (VALUES ('a'), ('f')) v (id) ON p.id = v.id" +
					" WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (v.id, NULL, now(), NULL)"},
				{"truncating", "TRUNCATE pastes CASCADE"},
				{"a row", "INSERT INTO pastes (id, created_at) VALUES ('a', now())"},
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
		exec(t, tx, "INSERT INTO pastes (id, created_at) VALUES ('rolled back', "+at.now+")")
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
					exec(t, db, fmt.Sprintf("INSERT INTO pastes (id, created_at) VALUES ('w%d-%d', %s)", w, i, now))
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
	pool, err := pgxpool.New(t.Context(), string(cfg.URL))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	rows := make([][]any, 10_000)
	for i := range rows {
		rows[i] = []any{fmt.Sprint("copied", i), time.Now()}
	}
	if _, err := pool.CopyFrom(t.Context(), pgx.Identifier{"pastes"}, []string{"id", "created_at"}, pgx.CopyFromRows(rows)); err != nil {
		t.Fatal(err)
	}
	wantExact(t, gormstore.NewPastes(database.Open(t, cfg)), database.SQL(t, cfg), "COPY")
}

// TestCountWithoutSlots has writers whose slot is not there yet.
func TestCountWithoutSlots(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	pastes, db := gormstore.NewPastes(database.Open(t, cfg)), database.SQL(t, cfg)
	exec(t, db, "DELETE FROM paste_counts")
	first, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close() //nolint:errcheck // nothing is pending
	exec(t, first, "INSERT INTO pastes (id, created_at) SELECT 'p' || x, now() FROM generate_series(1, 5) x")
	exec(t, db, "DELETE FROM pastes WHERE id IN ('p1', 'p2')") // on another connection, while the first is taken
	exec(t, db, "DELETE FROM pastes WHERE id = 'nothing'")
	wantExact(t, pastes, db, "writing without slots")
}

// TestCountReadsNoTable sees to it that counting costs the same however many pastes there are.
func TestCountReadsNoTable(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	pastes, db := gormstore.NewPastes(database.Open(t, cfg)), database.SQL(t, cfg)
	db.SetMaxOpenConns(1)
	exec(t, db, "INSERT INTO pastes (id, created_at) SELECT 'p' || x, now() FROM generate_series(1, 20000) x")
	exec(t, db, "VACUUM ANALYZE pastes")
	read := func() (scans, tuples int64) {
		exec(t, db, "SELECT pg_stat_force_next_flush()")
		row := db.QueryRow("SELECT seq_scan, seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_user_tables WHERE relname = 'pastes'")
		if err := row.Scan(&scans, &tuples); err != nil {
			t.Fatal(err)
		}
		return scans, tuples
	}
	scans, tuples := read()
	for range 10 {
		if count, err := pastes.ActiveCount(t.Context()); err != nil || count != 20_000 {
			t.Fatalf("got %d counted, error %v, want 20000", count, err)
		}
	}
	time.Sleep(1200 * time.Millisecond) // the other session's statistics arrive after a second
	if _, err := pastes.ActiveCount(t.Context()); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond)
	if scansAfter, tuplesAfter := read(); scansAfter != scans || tuplesAfter != tuples {
		t.Errorf("got %d scans and %d rows of the table read by counting, want none", scansAfter-scans, tuplesAfter-tuples)
	}
}

// addOwner stores a user with that many pastes of the same moment, plainly numbered.
func addOwner(t *testing.T, db *sql.DB, cfg gormstore.Config, owner string, pastes int) {
	t.Helper()
	now := instants[isPostgres(cfg)].now
	exec(t, db, "INSERT INTO users (id, username, avatar_url, default_language, public_profile, supporter_months, contributor, created_at)"+
		" VALUES ($1, $1, '', '', true, 0, false, "+now+")", owner)
	exec(t, db, fmt.Sprintf(`INSERT INTO pastes (id, owner_id, created_at)
		WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < %d)
		SELECT '%s' || (1000000 + n), '%s', %s FROM numbers WHERE n > 0`, pastes, owner, owner, now))
}

func listIDs(t *testing.T, pastes *gormstore.Pastes, owner user.ID) (ids []string) {
	t.Helper()
	if err := pastes.EachActiveID(t.Context(), owner, func(id paste.ID) error {
		ids = append(ids, string(id))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return ids
}

// TestListing reads a long list, and ids that only another writer can have stored.
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
			exec(t, db, "INSERT INTO pastes (id, owner_id, created_at) SELECT $1, 'odd', created_at FROM users WHERE id = 'odd'", id)
		}
		if got := listIDs(t, pastes, "odd"); !slices.Equal(got, odd) {
			t.Errorf("got %q, want %q", got, odd)
		}
		if got := listIDs(t, pastes, "nobody"); len(got) != 0 {
			t.Errorf("got %q, want none", got)
		}
		enough := errors.New("enough")
		for _, owner := range []user.ID{"many", "odd"} {
			if err := pastes.EachActiveID(t.Context(), owner, func(paste.ID) error { return enough }); !errors.Is(err, enough) {
				t.Error(err)
			}
		}
	})
}

// TestListingAllocatesNothingForAnID counts allocations, which cannot be done beside other tests.
func TestListingAllocatesNothingForAnID(t *testing.T) {
	for _, cfg := range []gormstore.Config{database.Postgres(t), database.SQLite(t)} {
		pastes, db := gormstore.NewPastes(database.Open(t, cfg)), database.SQL(t, cfg)
		allocations := func(owner user.ID, n int) float64 {
			addOwner(t, db, cfg, string(owner), n)
			return testing.AllocsPerRun(20, func() {
				visited := 0
				err := pastes.EachActiveID(t.Context(), owner, func(paste.ID) error { visited++; return nil })
				if err != nil || visited != n {
					t.Fatalf("got %d visits, error %v, want %d", visited, err, n)
				}
			})
		}
		few, many := allocations("few", 10), allocations("many", 20_000)
		if many > few+200 { // what else the process does is counted, too: more of it while more is read
			t.Errorf("%s: got %v allocations for 20,000 ids, want about the %v for 10", cfg.URL, many, few)
		}
	}
}

// TestOneSweeperAtATime holds one sweep open and sees another node step aside.
func TestOneSweeperAtATime(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	pastes, db := gormstore.NewPastes(database.Open(t, cfg)), database.SQL(t, cfg)
	exec(t, db, "INSERT INTO pastes (id, created_at, expires_at) SELECT 'p' || x, now(), now() FROM generate_series(1, 10) x")
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	exec(t, tx, "SELECT pg_advisory_xact_lock(7163384644223837030)") // what a node does while it sweeps
	if removed, err := pastes.RemoveExpired(t.Context(), 0, 100); removed != 0 || err != nil {
		t.Errorf("beside another node: got %d removed, error %v, want none", removed, err)
	}
	if err := tx.Rollback(); err != nil { // as when that node crashes
		t.Fatal(err)
	}
	if removed, err := pastes.RemoveExpired(t.Context(), 0, 100); removed != 10 || err != nil {
		t.Errorf("got %d removed, error %v, want 10", removed, err)
	}
}

// TestConcurrentLookups makes lookups wait for each other, so that they are merged into one statement,
// and sees that everyone gets the answer to its own question.
func TestConcurrentLookups(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		const people, callers, rounds = 40, 48, 15
		store := database.Open(t, cfg)
		users, tokens := gormstore.NewUsers(store), gormstore.NewTokens(store)
		now := time.Now()
		hashes := make([]token.Hash, people)
		names := make([]user.Name, 2*people) // the second half does not exist
		for i := range names {
			var err error
			if names[i], err = user.ParseName(fmt.Sprint("Person", i)); err != nil {
				t.Fatal(err)
			}
			if i >= people {
				continue
			}
			id := user.ID(fmt.Sprint("id", i))
			created := user.User{ID: id, Name: names[i], DefaultLanguage: "Go", CreatedAt: now}
			if err := users.Create(t.Context(), created, map[string]string{"github": string(id)}); err != nil {
				t.Fatal(err)
			}
			hashes[i] = token.Generate().Hash()
			if err := tokens.Create(t.Context(), token.Token{ID: token.ID(id), Owner: id, Hash: hashes[i], CreatedAt: now}); err != nil {
				t.Fatal(err)
			}
		}
		var running sync.WaitGroup
		for caller := range callers {
			running.Go(func() {
				for round := range rounds {
					i := (caller*31 + round*17) % len(names)
					found, err := users.StaleByName(t.Context(), names[i])
					if i < people && (err != nil || found.Name != names[i]) || i >= people && !fault.Is(err, fault.NotFound) {
						t.Errorf("%v: got %v, error %v, want the user of that name, if there is one", names[i], found.Name, err)
					}
					i %= people
					key, account, err := tokens.AccountByHash(t.Context(), hashes[i])
					if err != nil || key.Hash != hashes[i] || account.Name != names[i] ||
						account.Services["github"] != string(account.ID) || len(account.Services) != 1 {
						t.Errorf("%v: got %+v, error %v, want the account of that name", names[i], account, err)
					}
				}
			})
		}
		running.Wait()
	})
}
