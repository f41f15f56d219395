package embedding_test

import (
	"testing"

	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/bootstrap"
	"github.com/gluepot/gluepot/bootstrap/gluepottest"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/tests/database"
)

// TestGluepottest wants each configuration to have an empty database of its own.
func TestGluepottest(t *testing.T) {
	t.Parallel()
	server := database.EmptyPostgres(t).URL
	provides := map[string]func(testing.TB) bootstrap.Config{
		"sqlite":   gluepottest.SQLite,
		"postgres": func(tb testing.TB) bootstrap.Config { tb.Helper(); return gluepottest.PostgresAt(tb, server) },
	}
	if database.HasContainers(t) {
		provides["container"] = gluepottest.Postgres
	}
	for name, provide := range provides {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var used string
			t.Run("in a test", func(t *testing.T) {
				for range 2 {
					cfg := provide(t)
					app := gluepottest.Open(t, cfg)
					if _, err := app.Users.Create.Do(t.Context(), audit.Operator(), users.CreateInput{Name: "Epoxy"}); err != nil {
						t.Errorf("got %v, want a database without the user", err)
					}
					used = cfg.Database.URL
				}
			})
			gone := bootstrap.DefaultConfig()
			gone.Database.URL, gone.Migrate = used, false
			if _, stop, err := bootstrap.Open(t.Context(), gone); err == nil {
				_ = stop(t.Context())
				t.Error("got the database after the test, want it to be gone")
			}
		})
	}
}
