package integration

import (
	"context"
	"database/sql"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/tests/database"
)

// withoutContent takes a database back to before pastes had content (migration 3).
func withoutContent(t *testing.T, db *sql.DB) {
	t.Helper()
	for _, statement := range []string{
		"DROP TABLE paste_quotas", "DROP TABLE paste_quota_salt",
		"DROP INDEX public_pastes_by_owner", "DROP INDEX stars_by_paste",
		"DROP TABLE paste_edits", "DROP TABLE paste_contents", "ALTER TABLE pastes DROP COLUMN visibility",
		"DELETE FROM gluepot_migrations WHERE version_id > 3",
	} {
		exec(t, db, statement)
	}
}

// TestInterruptedIndex cuts a migration off while it builds its index beside a writer: the program is not ready, and the
// next to migrate mends it, also when two do at once.
func TestInterruptedIndex(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	db := database.SQL(t, cfg)
	withoutContent(t, db)
	store, other := database.Open(t, cfg), database.Open(t, cfg)
	writer := begin(t, db, "1min")
	exec(t, writer, "LOCK TABLE stars IN ROW EXCLUSIVE MODE") // what each writer has
	invalid := "SELECT count(*) FROM pg_index WHERE indexrelid = to_regclass('stars_by_paste') AND NOT indisvalid"
	ctx, cut := context.WithCancel(t.Context())
	migrated := make(chan error, 2)
	go func() { migrated <- store.Migrate(ctx) }()
	waitForCount(t, db, 1, invalid)
	cut()
	if err := <-migrated; err == nil {
		t.Error("got no error of a migration that was cut off, want one")
	}
	if err := store.Ready(t.Context()); !errors.Is(err, gormstore.ErrOutdated) {
		t.Errorf("got %v, want not ready because a migration is missing", err)
	}
	schema, err := store.Schema(t.Context())
	if err != nil || schema.Version != 4 {
		t.Errorf("got version %d, error %v, want 4", schema.Version, err)
	}
	for _, s := range []*gormstore.Store{store, other} {
		go func() { migrated <- s.Migrate(t.Context()) }()
	}
	// One waits for the writer, to remove the rest of the index; the other must not be waited for by it.
	waitForWaiters(t, db, 1)
	if err := writer.Commit(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := <-migrated; err != nil {
			t.Errorf("got %v, want both to find the database migrated", err)
		}
	}
	waitForCount(t, db, 0, invalid)
	if got := column(t, db, "SELECT version_id::text FROM gluepot_migrations WHERE is_applied ORDER BY 1"); len(got) != 8 {
		t.Errorf("got the versions %v, want each of 0 to 7 once", got)
	}
}

func waitForCount(t *testing.T, db *sql.DB, want int, query string) {
	t.Helper()
	got := -1
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if err := db.QueryRow(query).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if got == want {
			return
		}
	}
	t.Fatalf("got %d, want %d: %s", got, want, query)
}

// TestMigrationsAtOnce has nodes start at once on a database from before pastes had content.
func TestMigrationsAtOnce(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		withoutContent(t, database.SQL(t, cfg))
		var nodes sync.WaitGroup
		for range 4 {
			store := database.Open(t, cfg)
			nodes.Go(func() {
				if err := store.Migrate(t.Context()); err != nil {
					t.Errorf("got %v, want no error", err)
				}
			})
		}
		nodes.Wait()
	})
}

// TestPreviousVersion runs what the version before pastes had content sends, word for word, beside pastes that have some.
func TestPreviousVersion(t *testing.T) {
	t.Parallel()
	const (
		insert = `INSERT INTO "pastes" ("id","owner_id","created_at","expires_at") VALUES `
		upsert = ` ON CONFLICT ("id") DO UPDATE SET "owner_id"="excluded"."owner_id","created_at"="excluded"."created_at",` +
			`"expires_at"="excluded"."expires_at"`
		columns = `"pastes"."id","pastes"."owner_id","pastes"."created_at","pastes"."expires_at"`
	)
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		s := openService(t, cfg)
		exec(t, s.db, "DELETE FROM access_tokens")
		private := newDocument("private", "epoxy", "code")
		private.Visibility = paste.Private
		private.Edits = []paste.Edit{{ID: "e", At: time.Unix(1, 0)}}
		createDocument(t, s.pastes, private)
		for _, id := range []string{"expired", "deleted", "theirs"} {
			made := newDocument(id, "epoxy", "code")
			made.Edits = []paste.Edit{{ID: "e", At: time.Unix(1, 0)}}
			createDocument(t, s.pastes, made)
		}
		db := s.db
		db.SetMaxOpenConns(1)
		now, past := instants[isPostgres(cfg)].now, instants[isPostgres(cfg)].past
		clock, forUpdate := "(SELECT clock_timestamp())", " FOR UPDATE"
		expired := "DELETE FROM pastes WHERE id IN (SELECT id FROM pastes WHERE expires_at <= now() - interval '1 minute' " +
			"ORDER BY expires_at LIMIT 500 FOR UPDATE SKIP LOCKED)"
		stored := "(SELECT coalesce(sum(c.pastes), 0)::bigint FROM paste_counts c)"
		if !isPostgres(cfg) {
			exec(t, db, "PRAGMA foreign_keys = ON") // as each of its connections does
			clock, forUpdate, stored = now, "", "(SELECT count(*) FROM pastes)"
			expired = "DELETE FROM pastes WHERE id IN (SELECT id FROM pastes WHERE expires_at <= " + now + " ORDER BY expires_at LIMIT 500)"
		}
		active := "SELECT p.id FROM pastes p WHERE p.owner_id = 'epoxy' AND (p.expires_at IS NULL OR p.expires_at > " + clock + ")" +
			" ORDER BY p.created_at DESC, p.id DESC"
		want := func(what string, query, wanted string) {
			t.Helper()
			if got := strings.Join(column(t, db, query), " "); got != wanted {
				t.Errorf("%s: got %q, want %q", what, got, wanted)
			}
		}
		exec(t, db, insert+"('new','epoxy',"+now+",NULL)")
		exec(t, db, insert+"('imported','epoxy',"+past+",NULL),('private','epoxy',"+past+",NULL),('expired','epoxy',"+past+","+past+")"+
			upsert)
		want("the paste that was imported again", "SELECT visibility FROM pastes WHERE id = 'private'", "2")
		want("locked", `SELECT "pastes"."id" FROM "pastes" WHERE id IN ('new','private') ORDER BY id`+forUpdate, "new private")
		want("listed", "SELECT count(*) FROM (SELECT "+columns+` FROM "pastes" WHERE owner_id = 'epoxy' ORDER BY created_at DESC, id DESC) p`,
			"6")
		want("active", "SELECT count(*) FROM ("+active+") p", "5")
		want("counted", "SELECT "+stored, "6")
		exec(t, db, expired)
		exec(t, db, `DELETE FROM "pastes" WHERE id = 'deleted'`)
		want("counted", "SELECT "+stored, "4")
		want("with content", "SELECT paste_id FROM paste_contents ORDER BY 1", "private theirs")
		want("with a history", "SELECT paste_id FROM paste_edits ORDER BY 1", "private theirs")
		got, err := s.pastes.DocumentByID(t.Context(), "private")
		if err != nil || len(got.Pasties) != 1 || len(got.Edits) != 1 {
			t.Errorf("got %d pasties, %d edits, error %v, want one of each", len(got.Pasties), len(got.Edits), err)
		}
		if got, err := s.pastes.DocumentByID(t.Context(), "new"); err != nil || len(got.Pasties) != 0 || got.Visibility != 0 {
			t.Errorf("got %d pasties, visibility %v, error %v of a paste without content, want none", len(got.Pasties), got.Visibility, err)
		}
		exec(t, db, `DELETE FROM "users" WHERE id = 'epoxy'`)
		want("counted", "SELECT "+stored, "0")
		want("with content", "SELECT paste_id FROM paste_contents UNION ALL SELECT paste_id FROM paste_edits", "")
	})
}

// TestPastesFromBeforeContent reads, imports, edits and deletes pastes that the version before pastes had content has made.
func TestPastesFromBeforeContent(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		s := openService(t, cfg)
		past := instants[isPostgres(cfg)].past
		exec(t, s.db, "INSERT INTO pastes (id, created_at) VALUES ('edited', "+past+"), ('deleted', "+past+")")
		old, err := s.pastes.DocumentByID(t.Context(), "edited")
		if wanted := (paste.Document{Paste: old.Paste}); err != nil || old.CreatedAt.IsZero() || !reflect.DeepEqual(old, wanted) {
			t.Errorf("got %+v, error %v, want %+v with its time of creation", old, err, wanted)
		}
		results, err := s.pastes.Import(t.Context(), []paste.Document{{Paste: old.Paste}}, paste.RefuseOrphans)
		if err != nil || len(results) != 1 || results[0].Outcome != batch.Unchanged {
			t.Errorf("got %v, error %v, want it unchanged by an export that holds nothing either", results, err)
		}
		made, err := s.pastes.Update(t.Context(), "edited", token.Hash{}, retitle("new", "old"))
		if err != nil || made.Title != "new" {
			t.Errorf("got the title %q, error %v, want the new one", made.Title, err)
		}
		edited, err := s.pastes.DocumentByID(t.Context(), "edited")
		if err != nil || edited.Title != "new" || len(edited.Edits) != 1 {
			t.Errorf("got %+v, error %v, want the new title and its edit", edited, err)
		}
		if err := s.pastes.DeleteIf(t.Context(), "deleted", token.Hash{}, func(token.Token, paste.Paste) error { return nil }); err != nil {
			t.Errorf("delete: got %v, want no error", err)
		}
		if left := column(t, s.db, "SELECT id FROM pastes"); !slices.Equal(left, []string{"edited"}) {
			t.Errorf("got %q, want the one that was not deleted", left)
		}
	})
}
