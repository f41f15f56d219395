package integration

import (
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/database"
)

// wantSentence checks that an error is fault.Unavailable, with a sentence about an operator's mistake.
func wantSentence(t *testing.T, what string, err error, about string) {
	t.Helper()
	if kind, got := fault.KindOf(err), fault.MessageOf(err); kind != fault.Unavailable || !strings.Contains(got, about) {
		t.Errorf("%s: got %q (%v, from %v), want a sentence about a missing %s", what, got, kind, err, about)
	}
}

// TestMissingRight uses a database as a role that may only connect to it.
func TestMissingRight(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	db := database.SQL(t, cfg)
	var name string
	if err := db.QueryRowContext(t.Context(), "SELECT current_database() || '_nobody'").Scan(&name); err != nil {
		t.Fatal(err)
	}
	exec(t, db, "CREATE ROLE "+name)
	t.Cleanup(func() { _, _ = db.Exec("DROP ROLE " + name) })
	store, err := gormstore.New(database.WithParameter(t, cfg, "role", name))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close() //nolint:errcheck // the test has ended
	wantSentence(t, "connecting", store.Connect(t.Context()), "privilege")
	wantSentence(t, "readiness", store.Ready(t.Context()), "privilege")
	_, err = gormstore.NewPastes(store).ActiveCount(t.Context())
	wantSentence(t, "a read", err, "privilege")
	err = gormstore.NewPastes(store).DeleteIf(t.Context(), auditlog.Entry{}, "p", func(paste.Paste) error { return nil })
	wantSentence(t, "a write", err, "privilege")
}

// TestMissingSchema migrates a database whose search_path names no existing schema.
func TestMissingSchema(t *testing.T) {
	t.Parallel()
	cfg := database.WithParameter(t, database.EmptyPostgres(t), "search_path", "nowhere")
	store, err := gormstore.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close() //nolint:errcheck // the test has ended
	if err := store.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = store.Migrate(t.Context())
	wantSentence(t, "migrating", err, "schema")
}
