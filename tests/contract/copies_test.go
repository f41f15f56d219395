package contract_test

import (
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/application/copies"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/contract"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/fake"
)

func TestCopies(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) copies.Target{
		"postgres": func(t *testing.T) copies.Target { return gormstore.NewCopies(database.Open(t, database.Postgres(t))) },
		"sqlite":   func(t *testing.T) copies.Target { return gormstore.NewCopies(database.Open(t, database.SQLite(t))) },
		"fake":     func(*testing.T) copies.Target { return fake.NewCopies("fake", new(gormstore.Copies).Tables()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			contract.RunCopies(t, open)
		})
	}
}

func TestCopiesBesideWriters(t *testing.T) {
	t.Parallel()
	for name, provide := range map[string]func(testing.TB) gormstore.Config{"postgres": database.Postgres,
		"sqlite": database.SQLite} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			contract.RunCopiesBesideWriters(t, func(t *testing.T) (copies.Target, paste.Store) {
				cfg := provide(t)
				return gormstore.NewCopies(database.Open(t, cfg)), gormstore.NewPastes(database.Open(t, cfg))
			})
		})
	}
}
