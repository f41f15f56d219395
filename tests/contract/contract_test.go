package contract_test

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/contract"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/fake"
)

func TestMain(m *testing.M) { os.Exit(database.Main(m)) }

func stored(store *gormstore.Store) contract.DocumentStore {
	pastes := gormstore.NewPastes(store)
	return contract.DocumentStore{
		Store: contract.Store{
			Users: gormstore.NewUsers(store), Tokens: gormstore.NewTokens(store), Pastes: pastes, Stats: gormstore.NewStats(store),
		},
		Documents: pastes,
	}
}

// run runs every suite on stores that open returns.
func run(t *testing.T, open func(t *testing.T) contract.DocumentStore) {
	t.Helper()
	contract.Run(t, func(t *testing.T) contract.Store { return open(t).Store })
	contract.RunDocuments(t, open)
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T) contract.DocumentStore { return stored(database.Open(t, database.Postgres(t))) })
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T) contract.DocumentStore { return stored(database.Open(t, database.SQLite(t))) })
}

func TestFake(t *testing.T) {
	t.Parallel()
	run(t, func(*testing.T) contract.DocumentStore { return faked() })
}

func faked() contract.DocumentStore {
	store := new(fake.Store)
	return contract.DocumentStore{
		Store: contract.Store{
			Users: fake.Users{Store: store}, Tokens: fake.Tokens{Store: store}, Pastes: fake.Pastes{Store: store}, Stats: fake.Stats{Store: store},
		},
		Documents: fake.Pastes{Store: store},
	}
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
