package faults

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
)

// TestMigrationWhileServing gives pastes their content (migrations 4 and 5, and 6 after them) while nodes of the version before go on,
// somebody is in the middle of a long transaction, and a vacuum of the table is under way. GLUEPOT_TEST_MIGRATED_PASTES says how
// many pastes there are; with ten million it takes 2 GB of disk and some minutes.
func TestMigrationWhileServing(t *testing.T) {
	pastes := 100_000
	if text := os.Getenv("GLUEPOT_TEST_MIGRATED_PASTES"); text != "" {
		var err error
		if pastes, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	// A vacuum that has begun stays for minutes.
	server := database.StartBreakable(t, "-c", "autovacuum_naptime=1s", "-c", "autovacuum_vacuum_cost_delay=100ms",
		"-c", "autovacuum_vacuum_cost_limit=1", "-c", "max_wal_size=4GB")
	cfg, db := server.Config, database.SQL(t, server.Config)
	for _, statement := range []string{
		"DROP TABLE paste_quotas, paste_quota_salt",
		"DROP INDEX public_pastes_by_owner", "DROP INDEX stars_by_paste", "DROP TABLE paste_edits, paste_contents",
		"ALTER TABLE pastes DROP COLUMN visibility",
		"DELETE FROM gluepot_migrations WHERE version_id > 3",
		"ALTER TABLE pastes SET (autovacuum_enabled = false)",
		`INSERT INTO users (id, username, avatar_url, default_language, public_profile, supporter_months, contributor, created_at)
			SELECT 'u' || n, 'u' || n, '', '', true, 0, false, now() FROM generate_series(1, 1000) n`,
	} {
		execute(t, db, statement)
	}
	const chunk = 500_000
	for from := 0; from < pastes; from += chunk {
		execute(t, db, `INSERT INTO pastes (id, owner_id, created_at, expires_at)
			SELECT 'p' || n, 'u' || 1 + n % 1000, now(), CASE WHEN n % 10 = 0 THEN now() + interval '1 day' END
			FROM generate_series($1::int + 1, least($1::int + $2::int, $3::int)) n`, from, chunk, pastes)
	}
	execute(t, db, `INSERT INTO stars SELECT 'u' || 1 + n % 1000, 'p' || n, n FROM generate_series(1, $1::int / 10) n`, pastes)

	// A vacuum of the table begins, and is slow enough to stay.
	execute(t, db, `UPDATE pastes SET created_at = created_at WHERE id <= 'p3'`)
	execute(t, db, "ALTER TABLE pastes SET (autovacuum_enabled = true, autovacuum_vacuum_scale_factor = 0.001)")
	eventually(t, "a vacuum of pastes", func() bool {
		return number(t, db, "SELECT count(*) FROM pg_stat_progress_vacuum WHERE relid = 'pastes'::regclass") > 0
	})

	before := startPrevious(t, db)
	time.Sleep(2 * time.Second)
	idle := before.stop()

	long, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer long.Rollback() //nolint:errcheck // does nothing after a commit
	if _, err := long.ExecContext(t.Context(), "SELECT FROM pastes LIMIT 1"); err != nil {
		t.Fatal(err)
	}
	during := startPrevious(t, db)
	migrated := make(chan error, 1)
	began := time.Now()
	go func() { migrated <- migrate(t.Context(), cfg) }()
	// It must have tried for the lock again and again, and let the others pass in between.
	tries, waiting := 0, false
	eventually(t, "ten attempts to lock pastes", func() bool {
		now := number(t, db, `SELECT count(*) FROM pg_locks WHERE relation = 'pastes'::regclass
			AND mode = 'AccessExclusiveLock' AND NOT granted`) > 0
		if now && !waiting {
			tries++
		}
		waiting = now
		return tries >= 10
	})
	held := time.Since(began)
	if err := long.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-migrated; err != nil {
		t.Fatalf("migrate: got %v, want no error", err)
	}
	took := time.Since(began)
	if !strings.Contains(server.Log(), `automatic vacuum of table "postgres.public.pastes"`) { // the context of its cancelling
		t.Error("got a migration that waited for the vacuum of pastes, want the vacuum to give way")
	}
	waits := during.stop()
	record(t, "pastes, stars", fmt.Sprint(pastes, ", ", pastes/10), "")
	record(t, "migrated in, of which beside a long transaction",
		fmt.Sprint(took.Round(time.Millisecond), ", ", held.Round(time.Millisecond)), "")
	for i, s := range previousStatements {
		record(t, s.what+": statements, longest wait, longest without a migration", fmt.Sprint(waits.count[i], ", ",
			waits.longest[i].Round(time.Millisecond), ", ", idle.longest[i].Round(time.Millisecond)), "below 1s")
		// A machine that is too busy for its own work shows it without a migration, too.
		if limit := max(time.Second, 4*idle.longest[i]); waits.longest[i] > limit {
			t.Errorf("%s: got a wait of %v, want less than %v", s.what, waits.longest[i], limit)
		}
		if waits.count[i] == 0 {
			t.Errorf("%s: got none done during the migration, want some", s.what)
		}
	}
	if n := number(t, db, "SELECT count(*) FROM pastes") - number(t, db, "SELECT sum(pastes) FROM paste_counts"); n != 0 {
		t.Errorf("got %d pastes more than are counted, want none", n)
	}
	serve(t, string(cfg.URL))
}

func execute(t *testing.T, db *sql.DB, statement string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
		t.Fatalf("%.200s: got %v, want no error", statement, err)
	}
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("got no %s in three minutes, want it", what)
		}
	}
}

func migrate(ctx context.Context, cfg gormstore.Config) error {
	store, err := gormstore.New(cfg)
	if err != nil {
		return err
	}
	defer store.Close() //nolint:errcheck // Migrate says what went wrong
	if err := store.Connect(ctx); err != nil {
		return err
	}
	return store.Migrate(ctx)
}

// previousStatements are what the version before pastes had content does with pastes. $1 is a number that no other call has.
var previousStatements = []struct{ what, statement string }{
	{"insert", `INSERT INTO "pastes" ("id","owner_id","created_at","expires_at") VALUES ('n' || $1::int, 'u1', now(), NULL)`},
	{"import", `INSERT INTO "pastes" ("id","owner_id","created_at","expires_at") VALUES ('p' || 1 + $1::int % 1000, 'u2', now(), NULL)
		ON CONFLICT ("id") DO UPDATE SET "owner_id"="excluded"."owner_id","created_at"="excluded"."created_at",
		"expires_at"="excluded"."expires_at"`},
	{"list", `SELECT p.id FROM pastes p WHERE p.owner_id = 'u' || 1 + $1::int % 1000
		AND (p.expires_at IS NULL OR p.expires_at > (SELECT clock_timestamp())) ORDER BY p.created_at DESC, p.id DESC LIMIT 10`},
	{"count", `SELECT (SELECT sum(c.pastes) FROM paste_counts c) - (SELECT count(*) FROM pastes p
		WHERE p.expires_at <= (SELECT clock_timestamp()) AND p.expires_at <= now() + interval '1 day') WHERE $1::int > 0`},
	{"delete", `DELETE FROM "pastes" WHERE id = 'p' || 100000 - $1::int % 50000`},
	{"sweep", `DELETE FROM pastes WHERE id IN (SELECT id FROM pastes WHERE expires_at <= now() AND $1::int > 0
		ORDER BY expires_at LIMIT 500 FOR UPDATE SKIP LOCKED)`},
	{"star", `INSERT INTO stars SELECT 'u' || 1 + $1::int % 1000, 'n' || $1::int, $1::int ON CONFLICT DO NOTHING`},
}

// previous are nodes of the version before, which do each of those a few dozen times a second.
type previous struct {
	done    chan struct{}
	working sync.WaitGroup
	count   []int
	longest []time.Duration
}

func startPrevious(t *testing.T, db *sql.DB) *previous {
	t.Helper()
	p := &previous{
		done: make(chan struct{}), count: make([]int, len(previousStatements)), longest: make([]time.Duration, len(previousStatements)),
	}
	for i, s := range previousStatements {
		p.working.Go(func() {
			for {
				select {
				case <-p.done:
					return
				case <-time.After(25 * time.Millisecond):
				}
				n := int(time.Now().UnixMicro() % 1_000_000_000)
				start := time.Now()
				if _, err := db.ExecContext(t.Context(), s.statement, n); err != nil {
					t.Errorf("%s: got %v, want no error", s.what, err)
					return
				}
				p.longest[i], p.count[i] = max(p.longest[i], time.Since(start)), p.count[i]+1
			}
		})
	}
	return p
}

func (p *previous) stop() *previous {
	close(p.done)
	p.working.Wait()
	return p
}
