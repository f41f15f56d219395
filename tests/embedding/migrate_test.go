package embedding_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/bootstrap"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/tests/database"
)

// Without Migrate, opening changes nothing: what is not there is an error.
func TestOpenWithoutMigrating(t *testing.T) {
	folder := t.TempDir()
	cfg := bootstrap.DefaultConfig()
	cfg.Migrate = false
	cfg.Database.URL = "sqlite://" + filepath.Join(folder, "new", "gluepot.db")
	leavesNothing(t, func() {
		if _, _, err := bootstrap.Open(t.Context(), cfg); !fault.Is(err, fault.Unavailable) {
			t.Error(err)
		}
		waiting := cfg
		waiting.AllowPendingMigrations = true
		if _, _, err := bootstrap.Open(t.Context(), waiting); !fault.Is(err, fault.Unavailable) {
			t.Error(err)
		}
	})
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 0 {
		t.Errorf("got %v created, error %v, want nothing", entries, err)
	}
	empty := database.EmptySQLite(t)
	if err := os.WriteFile(database.SQLitePath(empty), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, own := range map[string]gormstore.Config{"sqlite": empty, "postgres": database.EmptyPostgres(t)} {
		t.Run(name, func(t *testing.T) {
			cfg.Database = own
			leavesNothing(t, func() {
				if _, _, err := bootstrap.Open(t.Context(), cfg); !errors.Is(err, gormstore.ErrOutdated) {
					t.Error(err)
				}
			})
			waiting := cfg
			waiting.AllowPendingMigrations = true
			gluepot, stop, err := bootstrap.Open(t.Context(), waiting)
			if err != nil {
				t.Fatal(err)
			}
			defer stop(t.Context()) //nolint:errcheck // nothing was written
			if err := gluepot.Ready(t.Context()); !errors.Is(err, gormstore.ErrOutdated) {
				t.Errorf("ready before the migrations: got %v, want %v", err, gormstore.ErrOutdated)
			}
			migrating := cfg
			migrating.Migrate = true
			_, stopMigrating, err := bootstrap.Open(t.Context(), migrating)
			if err != nil {
				t.Fatal(err)
			}
			if err := stopMigrating(t.Context()); err != nil {
				t.Error(err)
			}
			if err := gluepot.Ready(t.Context()); err != nil {
				t.Errorf("ready after the migrations: got %v, want no error", err)
			}
		})
	}
}
