package embedding_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/zap"

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
	cfg.Database.URL = gormstore.URL("sqlite://" + filepath.Join(folder, "new", "gluepot.db"))
	leavesNothing(t, func() {
		if _, _, err := bootstrap.Open(t.Context(), cfg); fault.KindOf(err) != fault.Unavailable {
			t.Error(err)
		}
		if _, _, err := bootstrap.OpenHandler(t.Context(), cfg, zap.NewNop()); fault.KindOf(err) != fault.Unavailable {
			t.Error(err)
		}
	})
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 0 {
		t.Errorf("%v was created (error %v)", entries, err)
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
			api, stop, err := bootstrap.OpenHandler(t.Context(), cfg, zap.NewNop())
			if err != nil {
				t.Fatal(err)
			}
			defer stop(t.Context()) //nolint:errcheck // nothing was written
			wantReadiness := func(status int) {
				t.Helper()
				answer := httptest.NewRecorder()
				api.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/readyz", nil))
				if answer.Code != status {
					t.Errorf("/readyz: %d %s", answer.Code, answer.Body)
				}
			}
			wantReadiness(http.StatusServiceUnavailable)
			migrating := cfg
			migrating.Migrate = true
			_, stopMigrating, err := bootstrap.Open(t.Context(), migrating)
			if err != nil {
				t.Fatal(err)
			}
			if err := stopMigrating(t.Context()); err != nil {
				t.Error(err)
			}
			wantReadiness(http.StatusOK)
		})
	}
}
