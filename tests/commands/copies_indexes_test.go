package commands

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/application/copies"
	"github.com/gluepot/gluepot/tests/database"
)

// indexesOf returns the definitions of all indexes, but for that of what is remembered of a copy.
func indexesOf(t *testing.T, cfg gormstore.Config) []string {
	t.Helper()
	query := `SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema() AND tablename <> 'gluepot_copy' ORDER BY 1`
	if !isPostgres(cfg) {
		query = `SELECT name || ': ' || coalesce(sql, '') FROM sqlite_schema WHERE type = 'index' ORDER BY 1`
	}
	return textsOf(t, database.SQL(t, cfg), query)
}

// TestCopyIndexes wants an empty target to lack the indexes that slow a copy down, and what follows to make them again as they were: its
// end, also that of the run after one that was killed; what removes rows; migrations.
func TestCopyIndexes(t *testing.T) {
	t.Parallel()
	end := func(t *testing.T, store *gormstore.Store, run string) {
		t.Helper()
		if err := gormstore.NewCopies(store).End(t.Context(), run, "sum"); err != nil {
			t.Fatal(err)
		}
	}
	for what, restore := range map[string]func(t *testing.T, cfg gormstore.Config, store *gormstore.Store){
		"end": func(t *testing.T, _ gormstore.Config, store *gormstore.Store) { end(t, store, "run") },
		"another run": func(t *testing.T, _ gormstore.Config, store *gormstore.Store) {
			if err := gormstore.NewCopies(store).Begin(t.Context(), "another"); err != nil {
				t.Fatal(err)
			}
			end(t, store, "another")
		},
		"removal": func(t *testing.T, _ gormstore.Config, store *gormstore.Store) {
			c := gormstore.NewCopies(store)
			if err := c.Write(t.Context(), "run", tableNamed(c, "users"), copies.Changes{Removed: []copies.Key{{"nobody"}}}); err != nil {
				t.Fatal(err)
			}
		},
		"migration": func(t *testing.T, cfg gormstore.Config, store *gormstore.Store) {
			if isPostgres(cfg) { // as if the newest migration were to come: this one removes what it finds of its index
				const newest = `DELETE FROM gluepot_migrations WHERE version_id = (SELECT max(version_id) FROM gluepot_migrations)`
				if _, err := database.SQL(t, cfg).ExecContext(t.Context(), newest); err != nil {
					t.Fatal(err)
				}
				if err := store.Migrate(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			end(t, store, "run")
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			database.Each(t, func(t *testing.T, cfg gormstore.Config) {
				store := database.Open(t, cfg)
				want, c := indexesOf(t, cfg), gormstore.NewCopies(store)
				if err := c.Begin(t.Context(), "run"); err != nil {
					t.Fatal(err)
				}
				if got := strings.Join(indexesOf(t, cfg), "\n"); got == "" || strings.Contains(got, "CREATE INDEX") {
					t.Errorf("got the indexes\n%s\nwant those of constraints only", got)
				}
				row := copies.Row{"paste001", nil, time.UnixMicro(1).UTC(), nil, int64(0)}
				if err := c.Write(t.Context(), "run", tableNamed(c, "pastes"), copies.Changes{Added: []copies.Row{row}}); err != nil {
					t.Fatal(err)
				}
				restore(t, cfg, store)
				if got := indexesOf(t, cfg); !slices.Equal(got, want) {
					t.Errorf("got the indexes\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			})
		})
	}
}

func tableNamed(c *gormstore.Copies, name string) copies.Table {
	tables := c.Tables()
	return tables[slices.IndexFunc(tables, func(table copies.Table) bool { return table.Name == name })]
}

func isPostgres(cfg gormstore.Config) bool { return strings.HasPrefix(string(cfg.URL), "postgres") }
