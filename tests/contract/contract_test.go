package contract_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/contract"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

func TestMain(m *testing.M) { os.Exit(database.Main(m)) }

func stored(store *gormstore.Store) contract.DocumentStore {
	pastes := gormstore.NewPastes(store)
	return contract.DocumentStore{
		Store: contract.Store{
			Users: gormstore.NewUsers(store), Tokens: gormstore.NewTokens(store), Pastes: pastes,
			Stats:      gormstore.NewStats(store),
			Search:     gormstore.NewSearch(store),
			Identities: gormstore.NewIdentities(store),
		},
		Documents: pastes,
	}
}

func moderated(store *gormstore.Store) contract.ModerationStore {
	return contract.ModerationStore{
		DocumentStore: stored(store), Moderation: gormstore.NewModeration(store), Removed: gormstore.NewPastes(store),
	}
}

func TestModeration(t *testing.T) {
	t.Parallel()
	for name, provide := range map[string]func(testing.TB) gormstore.Config{"postgres": database.Postgres,
		"sqlite": database.SQLite} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			contract.RunModeration(t, func(t *testing.T) contract.ModerationStore {
				return moderated(database.Open(t, provide(t)))
			})
		})
	}
	t.Run("postgres with the dataloader", func(t *testing.T) {
		t.Parallel()
		contract.RunModeration(t, func(t *testing.T) contract.ModerationStore {
			store := database.Open(t, database.Postgres(t))
			s := moderated(store)
			s.DocumentStore = decorated(store)
			return s
		})
	})
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T) contract.DocumentStore { return stored(database.Open(t, database.Postgres(t))) })
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T) contract.DocumentStore { return stored(database.Open(t, database.SQLite(t))) })
}

var large = flag.Bool("large", false, "many random steps instead of a few")

// TestModel has both databases do what the fake does.
func TestModel(t *testing.T) {
	t.Parallel()
	seeds, steps := uint64(1), 120
	if *large {
		seeds, steps = 4, 400
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			contract.RunModel(t, seed, steps, []contract.DocumentStore{
				stored(database.Open(t, database.Postgres(t))), stored(database.Open(t, database.SQLite(t))), faked(),
			})
		})
	}
}

// TestSearch has both databases find what a plain scan finds.
func TestSearch(t *testing.T) {
	t.Parallel()
	pastes, queries := 3000, 25 // more than a search scans before it asks the index
	if *large {
		pastes, queries = 5_000, 100
	}
	if program.Raced { // the scan takes ten times as long
		queries = 5
	}
	contract.RunSearch(t, 1, pastes, queries, map[string]contract.DocumentStore{
		"postgres": stored(database.Open(t, database.Postgres(t))), "sqlite": stored(database.Open(t, database.SQLite(t))),
		"fake": faked(),
	})
}
