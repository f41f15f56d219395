package integration

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/search"
	"github.com/gluepot/gluepot/tests/database"
)

func wantIndexed(t *testing.T, store *gormstore.Search, want bool) {
	t.Helper()
	if got, err := store.Indexed(t.Context()); err != nil || got != want {
		t.Errorf("got an index: %t, error %v, want %t", got, err, want)
	}
}

// TestSearchIndexBesideWriters creates the index while a transaction writes. Others can still write, a second creation
// is refused, and the remains of a killed creation are no obstacle.
func TestSearchIndexBesideWriters(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	s, db := openService(t, cfg), database.SQL(t, cfg)
	store := gormstore.NewSearch(s.store)
	createDocument(t, s.pastes, newDocument("before", "epoxy", "code"))
	exec(t, db, "DROP INDEX paste_texts_by_trigram")
	wantIndexed(t, store, false)
	writer := begin(t, db, "1min")
	exec(t, writer, "UPDATE paste_texts SET tags = tags")
	result := make(chan error, 1)
	go func() { result <- store.Prepare(t.Context()) }()
	waitForWaiters(t, db, 1)

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.pastes.CreateDocument(ctx, newDocument("during", "epoxy", "code")); err != nil {
		t.Errorf("a write during the creation of the index: got %v, want no error", err)
	}
	if err := gormstore.NewSearch(database.Open(t, cfg)).Prepare(ctx); !fault.Is(err, fault.Conflict) {
		t.Errorf("got %v, want fault.Conflict for the second creation", err)
	}
	wantIndexed(t, store, false)

	const kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND " +
		"query LIKE 'CREATE INDEX %'"
	exec(t, db, kill)
	if err := <-result; !fault.Is(err, fault.Unavailable) {
		t.Errorf("killed: got %v, want %v", err, fault.Unavailable)
	}
	if err := writer.Commit(); err != nil {
		t.Fatal(err)
	}
	const locks = `SELECT pid FROM pg_locks l JOIN pg_database d ON d.oid = l.database
		WHERE locktype = 'advisory' AND datname = current_database()`
	for deadline := time.Now().Add(patience); len(column(t, db, locks)) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("got a lock of the killed session, want none")
		}
	}
	const invalid = "SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = 'paste_texts'::regclass AND " +
		"NOT indisvalid"
	if got := column(t, db, invalid); !slices.Equal(got, []string{"paste_texts_by_trigram"}) {
		t.Errorf("got the invalid indexes %q, want the one of the killed session", got)
	}
	wantIndexed(t, store, false)
	for range 2 {
		if err := store.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	wantIndexed(t, store, true)
	if got := column(t, db, invalid); len(got) > 0 {
		t.Errorf("got the invalid indexes %q, want none", got)
	}
}

// TestSearchIndexWithoutExtension migrates a database as a user who may not create pg_trgm, which a superuser creates
// later.
func TestSearchIndexWithoutExtension(t *testing.T) {
	t.Parallel()
	cfg := database.EmptyPostgres(t)
	db := database.SQL(t, cfg)
	var name string
	if err := db.QueryRowContext(t.Context(), "SELECT current_database() || '_user'").Scan(&name); err != nil {
		t.Fatal(err)
	}
	exec(t, db, "CREATE ROLE "+name)
	exec(t, db, "GRANT ALL ON SCHEMA public TO "+name)
	t.Cleanup(func() { _, _ = db.Exec("DROP OWNED BY " + name + "; DROP ROLE " + name) })
	base, err := gormstore.New(database.WithParameter(t, cfg, "role", name))
	if err != nil {
		t.Fatal(err)
	}
	defer base.Close() //nolint:errcheck // the test has ended
	if err := base.BringUpToDate(t.Context()); err != nil {
		t.Fatal(err)
	}
	store := gormstore.NewSearch(base)
	wantIndexed(t, store, false)
	if err := store.Prepare(t.Context()); !errors.Is(err, search.ErrNoIndex) {
		t.Errorf("got %v, want %v", err, search.ErrNoIndex)
	}
	exec(t, db, "CREATE EXTENSION pg_trgm")
	if err := store.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantIndexed(t, store, true)
}
