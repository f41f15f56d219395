package commands

import (
	"database/sql"
	"slices"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
)

// What programs before indexes were set aside execute on a target.
const (
	earlierTable = `CREATE TABLE IF NOT EXISTS gluepot_copy (id integer PRIMARY KEY CHECK (id = 1), run text NOT NULL, ended text)`
	earlierRow   = `INSERT INTO gluepot_copy (id, run) VALUES (1, '') ON CONFLICT (id) DO NOTHING`
	earlierBegin = `UPDATE gluepot_copy SET run = 'earlier', ended = NULL`
	earlierEnd   = `UPDATE gluepot_copy SET ended = 'sum' WHERE run = 'earlier'`
)

func execAll(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

// TestCopyOfEarlierVersion has an earlier version, which set no indexes aside, begin a copy that this one goes on with.
func TestCopyOfEarlierVersion(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		want := indexesOf(t, cfg)
		db := database.SQL(t, cfg)
		execAll(t, db, earlierTable, earlierRow, earlierBegin,
			`INSERT INTO pastes (id, created_at) VALUES ('begun001', '2020-01-01')`)
		if isPostgres(cfg) { // as in TestCopyIndexes
			execAll(t, db, `DELETE FROM gluepot_migrations WHERE version_id = (SELECT max(version_id) FROM gluepot_migrations)`)
			if err := database.Open(t, cfg).Migrate(t.Context()); err != nil {
				t.Errorf("migrate: %v", err)
			}
		}
		_ = db.Close()
		copyAll(t, filled(t, database.SQLite(t)), cfg, "--resume")
		if got := indexesOf(t, cfg); !slices.Equal(got, want) {
			t.Errorf("got the indexes\n%q\nwant\n%q", got, want)
		}
	})
}

// TestEarlierVersionDoesNotEndCopies has an earlier version go on with a copy of this one, whose indexes it would never make.
func TestEarlierVersionDoesNotEndCopies(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		store := database.Open(t, cfg)
		want := indexesOf(t, cfg)
		if err := gormstore.NewCopies(store).Begin(t.Context(), "run"); err != nil {
			t.Fatal(err)
		}
		db := database.SQL(t, cfg)
		execAll(t, db, earlierTable, earlierRow, earlierBegin)
		if _, err := db.ExecContext(t.Context(), earlierEnd); err == nil {
			t.Errorf("the earlier version ends a copy without %d of %d indexes", len(want)-len(indexesOf(t, cfg)), len(want))
		}
		_ = db.Close()
		copyAll(t, filled(t, database.SQLite(t)), cfg, "--resume")
		if got := indexesOf(t, cfg); !slices.Equal(got, want) {
			t.Errorf("got the indexes\n%q\nwant\n%q", got, want)
		}
	})
}

// TestCopyIndexesWithOddNames copies to where an operator has made indexes, too, and to a schema whose name has to be quoted.
func TestCopyIndexesWithOddNames(t *testing.T) {
	t.Parallel()
	source := filled(t, database.SQLite(t))
	for name, empty := range map[string]func(testing.TB) gormstore.Config{"postgres": database.EmptyPostgres, "sqlite": database.EmptySQLite} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := empty(t)
			if isPostgres(cfg) {
				execAll(t, database.SQL(t, cfg), `CREATE SCHEMA "an ""odd schema"`,
					`DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = "an ""odd schema"', current_database()); END $$`)
				cfg.URL += "&default_query_exec_mode=exec" // as for PgBouncer
			}
			store, err := gormstore.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close() //nolint:errcheck // the test has ended
			if err := store.BringUpToDate(t.Context()); err != nil {
				t.Fatal(err)
			}
			execAll(t, database.SQL(t, cfg), `CREATE INDEX "my ""own index;" ON pastes (visibility)`,
				"CREATE INDEX \"of\n;\ntwo lines\" ON pastes (visibility)")
			want := indexesOf(t, cfg)
			copyAll(t, source, cfg)
			if got := indexesOf(t, cfg); !slices.Equal(got, want) {
				t.Errorf("got the indexes\n%q\nwant\n%q", got, want)
			}
		})
	}
}
