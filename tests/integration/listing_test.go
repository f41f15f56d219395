package integration

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/adapters/gormstore/dataloader"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/database"
)

// TestPageReadsNoMoreThanItShows checks that a page of an owner's pastes costs the same, however many pastes the owner
// and others have, and whatever the planner estimates.
func TestPageReadsNoMoreThanItShows(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	s := openService(t, cfg)
	exec(t, s.db, "ALTER TABLE pastes SET (autovacuum_enabled = off)")
	exec(t, s.db, "ALTER TABLE pasties SET (autovacuum_enabled = off)")
	exec(t, s.db, `INSERT INTO users (id, username, avatar_url, default_language, public_profile,
		supporter_months, contributor, created_at)
		SELECT 'u' || x, 'user' || x, '', '', true, 0, false, now() FROM generate_series(1, 200) x`)
	exec(t, s.db, "UPDATE users SET public_profile = true")
	fill := func(owner string) {
		exec(t, s.db, insertPastes("id, owner_id, created_at",
			"md5("+owner+" || '/' || x), "+owner+", now() - x * interval '1 second' FROM generate_series(1, 2000) x"))
		exec(t, s.db, "UPDATE pastes SET visibility = 1, pasties = 1")
		exec(t, s.db, `INSERT INTO pasties (paste_id, position, id, title, language, code)
			SELECT md5(`+owner+` || '/' || x), 0, '', '', '', repeat(md5(x::text), 20) FROM generate_series(1, 2000) x`)
	}
	fill("'u' || (x % 190 + 10)")
	fill("'u1'")
	exec(t, s.db, "VACUUM ANALYZE pastes")
	exec(t, s.db, "VACUUM ANALYZE pasties")
	fill("'epoxy'") // the planner has no statistics of these

	const limit, pages = 51, 8 // so many that the last pages may have a generic plan
	for _, owner := range []user.ID{"u1", "epoxy"} {
		for name, selection := range map[string]paste.Selection{"public": {Public: true}, "all": {}} {
			before := s.rowsRead(t)
			other := database.Open(t, cfg)
			for range pages {
				page, err := gormstore.NewPastes(other).Select(t.Context(), owner, selection, limit)
				if err != nil || len(page) != limit {
					t.Fatalf("%s of %s: got %d pastes, error %v, want %d", name, owner, len(page), err, limit)
				}
				selection = selection.Next(&page[limit-1])
			}
			if err := other.Close(); err != nil {
				t.Fatal(err)
			}
			read := s.rowsRead(t) - before
			t.Logf("%s of %s: %d rows read for %d pages", name, owner, read, pages)
			if read < 3*limit*pages || read > 4*limit*pages {
				t.Errorf("%s of %s: got %d rows read for %d pages, want those of %d pastes, their first pasties, their summaries, "+
					"and some of the planner",
					name, owner, read, pages, limit*pages)
			}
		}
	}
}

// TestStarsReadNoOtherPastes lists the stars of a user, all of which are for old pastes, while the planner expects some
// for new ones.
func TestStarsReadNoOtherPastes(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	s := openService(t, cfg)
	const stars = 1000
	exec(t, s.db, insertPastes("id, owner_id, created_at, delete_key",
		"md5(x::text), 'epoxy', now() - x * interval '1 second', decode(repeat(md5(x::text), 60), 'hex') FROM "+
			"generate_series(1, 50000) x"))
	exec(t, s.db, `INSERT INTO stars (user_id, paste_id, position)
		SELECT 'epoxy', md5(x::text), x FROM generate_series(49001, 50000) x`)
	exec(t, s.db, "VACUUM ANALYZE")
	before := s.rowsRead(t)
	other := database.Open(t, cfg)
	page, err := gormstore.NewPastes(other).StarredBy(t.Context(), "epoxy", "", paste.Cursor{}, 51)
	if err != nil || len(page) != 51 {
		t.Fatalf("got %d pastes, error %v, want 51", len(page), err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if read := s.rowsRead(t) - before; read > 2*stars {
		t.Errorf("got %d rows read, want at most two for each of %d stars", read, stars)
	}
}

// TestStarsAreCountedOnce reads a paste of many pasties with a statement that has a row for each pasty, and checks that
// it counts the stars once.
func TestStarsAreCountedOnce(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	s, many := openService(t, cfg), newDocument("many", "epoxy", "code")
	many.Pasties = slices.Repeat(many.Pasties, 50)
	createDocument(t, s.pastes, many)
	if err := s.pastes.Star(t.Context(), netip.Addr{}, "epoxy", "many"); err != nil {
		t.Fatal(err)
	}
	scans := func() (n int) {
		t.Helper()
		s.rowsRead(t) // waits until the sessions have ended
		if err := s.db.QueryRow("SELECT seq_scan + idx_scan FROM pg_stat_user_tables WHERE relname = 'stars'").Scan(
			&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := scans()
	other := database.Open(t, cfg)
	loader := dataloader.New(other).Pastes(gormstore.NewPastes(other))
	if document, err := loader.ReadDocument(t.Context(), "many", ""); err != nil || document.Stars != 1 ||
		len(document.Pasties) != 50 {
		t.Errorf("got %d stars, %d pasties, error %v, want one and 50", document.Stars, len(document.Pasties), err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if got := scans() - before; got != 1 {
		t.Errorf("got %d scans of stars, want one for the paste", got)
	}
}

// rowsRead ends all sessions, and returns how many rows of pastes and pasties statements have read so far.
func (s *service) rowsRead(t *testing.T) (rows int) {
	t.Helper()
	if err := s.store.Close(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); s.sessions(t,
		"application_name = 'gluepot'") > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("got sessions of the store that do not end, want none")
		}
	}
	s.db.SetMaxIdleConns(0) // ends the sessions that filled the tables
	for deadline := time.Now().Add(patience); s.sessions(t,
		"backend_type = 'client backend'") > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("got sessions that do not end, want none")
		}
	}
	row := s.db.QueryRowContext(t.Context(), `SELECT sum(seq_tup_read + idx_tup_fetch) FROM pg_stat_user_tables
		WHERE relname IN ('pastes', 'pasties')`)
	if err := row.Scan(&rows); err != nil {
		t.Fatal(err)
	}
	return rows
}
