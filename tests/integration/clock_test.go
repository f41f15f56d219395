package integration

import (
	"database/sql"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/database"
)

// What is counted while pastes expire, and at the exact instant of it.

// shortLived is how long the pastes of these tests live: enough to ask before they expire.
const shortLived = 2 * time.Second

func countActive(store paste.Store) *pastes.CountActive {
	return pastes.New(store, nil, pastes.Options{}, time.Now).CountActive
}

// addExpiring stores pastes that stay and others that expire together soon, and returns when.
func addExpiring(t *testing.T, db *sql.DB, cfg gormstore.Config, staying, expiring int) time.Time {
	t.Helper()
	at := instants[isPostgres(cfg)].now
	expiry := time.Now().Add(shortLived).Truncate(time.Microsecond)
	literal := fmt.Sprint(expiry.UnixMicro())
	if isPostgres(cfg) {
		literal = "'" + expiry.Format(time.RFC3339Nano) + "'"
	}
	series := "(WITH RECURSIVE s(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM s WHERE x < %d) SELECT x FROM s) n"
	exec(t, db, insertPastes("id, created_at", "'stays' || x, "+at+" FROM "+fmt.Sprintf(series, staying)))
	exec(t, db, insertPastes("id, created_at, expires_at",
		"'expires' || x, "+at+", "+literal+" FROM "+fmt.Sprintf(series, expiring)))
	return expiry
}

// waitUntil waits for an instant to pass by the test's clock, which is the store's as well: the test fails if they
// are far apart, rather than that it passes for no reason.
func waitUntil(t *testing.T, instant time.Time) {
	t.Helper()
	select {
	case <-time.After(time.Until(instant) + 50*time.Millisecond):
	case <-t.Context().Done():
	}
}

// TestCountWaitsForAConnection asks for the count while the only connection is busy. Meanwhile pastes expire, and
// some of them are removed.
func TestCountWaitsForAConnection(t *testing.T) {
	t.Parallel()
	const staying, expiring, removed = 5, 6000, 2500
	cfg := database.Postgres(t)
	db := database.SQL(t, cfg)
	sweeper := gormstore.NewPastes(database.Open(t, cfg))
	cfg.MaxConnections = 1
	store := database.Open(t, cfg)
	expiry := addExpiring(t, db, cfg, staying, expiring)

	busy, err := store.Pool().Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	answer := make(chan int64)
	go func() {
		count, err := countActive(gormstore.NewPastes(store)).Do(t.Context())
		if err != nil {
			t.Error(err)
		}
		answer <- count
	}()
	waitUntil(t, expiry)
	if n, err := sweeper.RemoveExpired(t.Context(), 0, removed); n != removed || err != nil {
		t.Errorf("got %d removed, error %v, want %d", n, err, removed)
	}
	busy.Release()
	if count := <-answer; count != staying+expiring && count != staying {
		t.Errorf("got %d counted, want %d or %d: nothing else was ever true", count, staying+expiring, staying)
	}
}

// TestCountWaitsForALock is the same where the statement has arrived, and then another client stores a paste.
func TestCountWaitsForALock(t *testing.T) {
	t.Parallel()
	const staying, expiring, removed = 5, 6000, 2500
	cfg := database.Postgres(t)
	cfg.MaxConnections = 1
	asked, db := gormstore.NewPastes(database.Open(t, cfg)), database.SQL(t, cfg)
	// prepares the statement, which would wait for the lock itself
	if _, err := asked.ActiveCount(t.Context()); err != nil {
		t.Fatal(err)
	}
	expiry := addExpiring(t, db, cfg, staying, expiring)
	other := begin(t, db, "1min")
	exec(t, other, "LOCK TABLE pastes IN ACCESS EXCLUSIVE MODE")
	answer := make(chan int64)
	go func() {
		count, err := countActive(asked).Do(t.Context())
		if err != nil {
			t.Error(err)
		}
		answer <- count
	}()
	waitForWaiters(t, db, 1)
	waitUntil(t, expiry)
	exec(t, other, "DELETE FROM pastes WHERE id IN (SELECT id FROM pastes WHERE expires_at <= clock_timestamp() LIMIT $1)",
		removed)
	exec(t, other, insertPastes("id, created_at", "'new', now()"))
	if err := other.Commit(); err != nil {
		t.Fatal(err)
	}
	if count := <-answer; count != staying+1 {
		t.Errorf("got %d counted, want %d: then it was the last to be true of %d, %d and %d", count, staying+1,
			staying+expiring, staying, staying+1)
	}
}

// stopClock gives the sessions of the returned configuration a clock that stands still until it is set.
func stopClock(t *testing.T, cfg gormstore.Config, db *sql.DB) (gormstore.Config, func(time.Time)) {
	t.Helper()
	exec(t, db, "CREATE SCHEMA stopped")
	exec(t, db, "CREATE TABLE stopped.clock (at timestamptz)")
	exec(t, db, "INSERT INTO stopped.clock VALUES (pg_catalog.now())")
	for _, function := range []string{"now", "clock_timestamp"} {
		exec(t, db, "CREATE FUNCTION stopped."+function+
			"() RETURNS timestamptz LANGUAGE sql VOLATILE AS 'SELECT at FROM stopped.clock'")
	}
	// Functions of pg_catalog come first unless it is named.
	cfg = database.WithParameter(t, cfg, "search_path", "stopped,pg_catalog,public")
	return cfg, func(at time.Time) { exec(t, db, "UPDATE stopped.clock SET at = $1", at) }
}

// TestClocksThatDiffer has the database's clock run ahead of this machine's, and behind it: such a node is not ready. A
// paste for an hour would be stored as expired, or an expired token be taken.
func TestClocksThatDiffer(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	stopped, set := stopClock(t, cfg, database.SQL(t, cfg))
	store := database.Open(t, stopped)
	for difference, ready := range map[time.Duration]bool{
		-61 * time.Minute: false, -time.Minute: false, 0: true, time.Minute: false, 61 * time.Minute: false,
	} {
		set(time.Now().Add(difference))
		err := store.Ready(t.Context())
		if (err == nil) != ready || !ready && (!fault.Is(err, fault.Unavailable) ||
			!strings.Contains(fault.MessageOf(err), "clocks")) {
			t.Errorf("a difference of %v: got %v, want ready: %v", difference, err, ready)
		}
	}
}

// TestExpiryInstant judges a paste by PostgreSQL's clock a microsecond before it expires, when it does, and after.
// (The contract suite cannot stop the clock; for SQLite see TestExpiryInstant in adapters/gormstore.)
func TestExpiryInstant(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	db := database.SQL(t, cfg)
	stopped, set := stopClock(t, cfg, db)
	store := database.Open(t, stopped)
	users, stored, stats := gormstore.NewUsers(store), gormstore.NewPastes(store), gormstore.NewStats(store)
	addOwner(t, db, cfg, "owner", 0)
	expiry := time.Date(2024, 2, 29, 12, 30, 15, 123456000, time.UTC)
	exec(t, db, insertPastes("id, owner_id, created_at, expires_at",
		"'p', 'owner', $1::timestamptz, $1::timestamptz"), expiry)
	if err := stored.Star(t.Context(), netip.Addr{}, "owner", "p"); err != nil {
		t.Fatal(err)
	}
	for _, moment := range []struct {
		at     time.Time
		active int
	}{
		{expiry.Add(-time.Microsecond), 1}, {expiry, 0}, {expiry.Add(time.Microsecond), 0},
	} {
		set(moment.at)
		count, err := stored.ActiveCount(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		account, err := users.AccountByID(t.Context(), "owner")
		if err != nil {
			t.Fatal(err)
		}
		totals, err := stats.Totals(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := [...]int{len(listIDs(t, stored, "owner")), int(count), len(account.Stars), int(totals.ActivePastes),
			1 - int(totals.ExpiredPastes)}
		if got != [...]int{moment.active, moment.active, moment.active, moment.active, moment.active} {
			t.Errorf("%v after the expiry: got %v (listed, counted, starred, in the totals, not expired there), want %d each",
				moment.at.Sub(expiry), got, moment.active)
		}
		if today := moment.at.Truncate(24 * time.Hour); !totals.Days[0].Begin.Equal(today) {
			t.Errorf("%v after the expiry: got %v as today, want %v", moment.at.Sub(expiry), totals.Days[0].Begin, today)
		}
	}
	for _, moment := range []struct {
		at      time.Time
		removed int
	}{
		{expiry.Add(time.Hour - time.Microsecond), 0}, {expiry.Add(time.Hour), 1},
	} {
		set(moment.at)
		if removed, err := stored.RemoveExpired(t.Context(), time.Hour, 10); removed != moment.removed || err != nil {
			t.Errorf("%v after the expiry: got %d removed, error %v, want %d", moment.at.Sub(expiry), removed, err,
				moment.removed)
		}
	}
}

// TestSweepLeavesWhatJustExpired sees the grace that an embedder gets: the write timeout and a margin.
func TestSweepLeavesWhatJustExpired(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		node, stored := open(t, cfg), gormstore.NewPastes(database.Open(t, cfg))
		for id, ago := range map[paste.ID]time.Duration{"just": time.Second, "long": time.Hour} {
			made := paste.Paste{ID: id, CreatedAt: time.Now(), ExpiresAt: time.Now().Add(-ago)}
			if err := stored.CreateDocument(t.Context(), paste.Document{Paste: made}); err != nil {
				t.Fatal(err)
			}
		}
		if removed, err := node.Pastes.Sweep.Do(t.Context()); removed != 1 || err != nil {
			t.Errorf("got %d removed, error %v, want 1", removed, err)
		}
		if left := column(t, database.SQL(t, cfg), "SELECT id FROM pastes"); !slices.Equal(left, []string{"just"}) {
			t.Errorf("got %v left, want just", left)
		}
	})
}
