package contract_test

import (
	"os"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/contract"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/fake"
)

func TestMain(m *testing.M) { os.Exit(database.Main(m)) }

func stored(store *gormstore.Store) contract.Store {
	return contract.Store{
		Users: gormstore.NewUsers(store), Tokens: gormstore.NewTokens(store),
		Pastes: gormstore.NewPastes(store), Stats: gormstore.NewStats(store),
	}
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	contract.Run(t, func(t *testing.T) contract.Store { return stored(database.Open(t, database.Postgres(t))) })
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	contract.Run(t, func(t *testing.T) contract.Store { return stored(database.Open(t, database.SQLite(t))) })
}

func TestFake(t *testing.T) {
	t.Parallel()
	contract.Run(t, func(*testing.T) contract.Store {
		store := new(fake.Store)
		return contract.Store{
			Users: fake.Users{Store: store}, Tokens: fake.Tokens{Store: store}, Pastes: fake.Pastes{Store: store},
			Stats: fake.Stats{Store: store},
		}
	})
}
