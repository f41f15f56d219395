package integration

import (
	"database/sql"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/tests/database"
)

func waitForCount(t *testing.T, db *sql.DB, want int, query string) {
	t.Helper()
	got := -1
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if err := db.QueryRow(query).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got == want {
			return
		}
	}
	t.Fatalf("got %d, want %d: %s", got, want, query)
}

func eachEmpty(t *testing.T, test func(t *testing.T, cfg gormstore.Config)) {
	t.Helper()
	for name, provide := range map[string]func(testing.TB) gormstore.Config{
		"postgres": database.EmptyPostgres, "sqlite": database.EmptySQLite,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, provide(t))
		})
	}
}

func newStore(t *testing.T, cfg gormstore.Config) *gormstore.Store {
	t.Helper()
	store, err := gormstore.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

// TestMigrationsAtOnce starts nodes at once on an empty database. Each must find it migrated, and each migration must
// run once.
func TestMigrationsAtOnce(t *testing.T) {
	t.Parallel()
	eachEmpty(t, func(t *testing.T, cfg gormstore.Config) {
		var nodes sync.WaitGroup
		for range 4 {
			store := newStore(t, cfg)
			nodes.Go(func() {
				if err := store.BringUpToDate(t.Context()); err != nil {
					t.Errorf("got %v, want no error", err)
				}
			})
		}
		nodes.Wait()
		schema, err := newStore(t, cfg).Schema(t.Context())
		if err != nil || schema.Version == 0 || schema.Version != schema.Latest ||
			len(schema.Migrations) != int(schema.Latest) {
			t.Errorf("got %+v, error %v, want all migrations", schema, err)
		}
		versions := column(t, database.SQL(t, cfg),
			"SELECT version_id FROM gluepot_versions WHERE is_applied AND version_id > 0")
		if len(versions) != int(schema.Latest) {
			t.Errorf("got the versions %v, want each of 1 to %d once", versions, schema.Latest)
		}
	})
}

// TestUnreleasedDatabase opens a database of a commit before the first release. It must be refused and left unchanged.
func TestUnreleasedDatabase(t *testing.T) {
	t.Parallel()
	eachEmpty(t, func(t *testing.T, cfg gormstore.Config) {
		store := newStore(t, cfg)
		if err := store.Create(t.Context()); err != nil {
			t.Fatal(err)
		}
		db := database.SQL(t, cfg)
		exec(t, db, "CREATE TABLE gluepot_schema (id integer PRIMARY KEY, version_id integer, is_applied boolean)")
		exec(t, db, "INSERT INTO gluepot_schema VALUES (1, 7, true)")
		if err := store.Connect(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, migrateErr := store.Migrate(t.Context())
		_, schemaErr := store.Schema(t.Context())
		for what, err := range map[string]error{"migrating": migrateErr, "readiness": store.Ready(t.Context()),
			"the schema": schemaErr} {
			if got := fault.MessageOf(err); !fault.Is(err, fault.Unavailable) ||
				!strings.Contains(got, "before Gluepot's first release") ||
				!strings.Contains(got, "import the data again") {
				t.Errorf("%s: got %q (%v), want a sentence that says what to do", what, got, err)
			}
		}
		tables := "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
		if !isPostgres(cfg) {
			tables = "SELECT name FROM sqlite_schema WHERE type = 'table'"
		}
		if got := column(t, db, tables); len(got) != 1 {
			t.Errorf("got the tables %v, want only gluepot_schema", got)
		}
	})
}

// TestNewerVersion checks that this program keeps running and can start on a database that a newer program migrated, if
// the database says that it may.
func TestNewerVersion(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		first, db := database.Open(t, cfg), database.SQL(t, cfg)
		exec(t, db, "INSERT INTO gluepot_versions (version_id, is_applied) VALUES (99, true)")
		for what, store := range map[string]*gormstore.Store{"running": first, "starting": database.Open(t, cfg)} {
			if count, err := store.Migrate(t.Context()); err != nil || count != 0 {
				t.Errorf("%s: got %d migrations, error %v, want none", what, count, err)
			}
			if err := store.Ready(t.Context()); err != nil {
				t.Errorf("%s: got %v, want no error", what, err)
			}
		}
		exec(t, db, "UPDATE installation SET oldest_version = 98")
		for what, store := range map[string]*gormstore.Store{"running": first, "starting": database.Open(t, cfg)} {
			_, err := store.Migrate(t.Context())
			for _, err := range []error{err, store.Ready(t.Context())} {
				if got := fault.MessageOf(err); !fault.Is(err, fault.Unavailable) || !strings.Contains(got, "Run a newer gluepot") {
					t.Errorf("%s: got %q (%v), want a sentence that says what to do", what, got, err)
				}
			}
		}
	})
}
