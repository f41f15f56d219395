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

// Counts while pastes expire, and at the exact instant.

// shortLived is the lifetime of the expiring pastes: long enough to start a request before they expire.
const shortLived = 2 * time.Second

func countActive(store paste.Store) *pastes.CountActive {
	return pastes.New(store, nil, pastes.Options{}, time.Now).CountActive
}

// addExpiring stores pastes that stay, and others that expire together soon, and returns the time of expiry.
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

// waitUntil waits until an instant has passed on this machine's clock, which is also the database's.
func waitUntil(t *testing.T, instant time.Time) {
	t.Helper()
	select {
	case <-time.After(time.Until(instant) + 50*time.Millisecond):
	case <-t.Context().Done():
	}
}

// TestCountWaitsForAConnection counts while the only connection is busy. During the wait pastes expire, and some of
// them are removed.
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
		t.Errorf("got %d, want %d or %d, the only numbers that there ever were", count, staying+expiring, staying)
	}
}

// TestCountWaitsForALock counts while the statement waits for a lock. During the wait pastes expire, some are removed,
// and another client stores one.
func TestCountWaitsForALock(t *testing.T) {
	t.Parallel()
	const staying, expiring, removed = 5, 6000, 2500
	cfg := database.Postgres(t)
	cfg.MaxConnections = 1
	store, db := gormstore.NewPastes(database.Open(t, cfg)), database.SQL(t, cfg)
	// Prepare the statement: preparing would also wait for the lock.
	if _, err := store.ActiveCount(t.Context()); err != nil {
		t.Fatal(err)
	}
	expiry := addExpiring(t, db, cfg, staying, expiring)
	other := begin(t, db, "1min")
	exec(t, other, "LOCK TABLE pastes IN ACCESS EXCLUSIVE MODE")
	answer := make(chan int64)
	go func() {
		count, err := countActive(store).Do(t.Context())
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
		t.Errorf("got %d, want %d, the last of the numbers %d, %d and %d", count, staying+1,
			staying+expiring, staying, staying+1)
	}
}

// stopClock returns a configuration whose sessions have a clock that stands still, and a function that sets it.
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

// TestClocksThatDiffer checks that a node is not ready if the database's clock is ahead of this machine's or behind it:
// a paste for an hour could be stored as expired, or an expired token be accepted.
func TestClocksThatDiffer(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	stoppedCfg, set := stopClock(t, cfg, database.SQL(t, cfg))
	store := database.Open(t, stoppedCfg)
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

// TestExpiryInstant checks a paste on PostgreSQL a microsecond before it expires, when it does, and a microsecond
// after. (The contract suite cannot stop the clock. TestExpiryInstant in adapters/gormstore checks SQLite.)
func TestExpiryInstant(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	db := database.SQL(t, cfg)
	stoppedCfg, set := stopClock(t, cfg, db)
	store := database.Open(t, stoppedCfg)
	users, pastes, stats := gormstore.NewUsers(store), gormstore.NewPastes(store), gormstore.NewStats(store)
	addOwner(t, db, cfg, "owner", 0)
	expiry := time.Date(2024, 2, 29, 12, 30, 15, 123456000, time.UTC)
	exec(t, db, insertPastes("id, owner_id, created_at, expires_at",
		"'p', 'owner', $1::timestamptz, $1::timestamptz"), expiry)
	if err := pastes.Star(t.Context(), netip.Addr{}, "owner", "p"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at     time.Time
		active int
	}{
		{expiry.Add(-time.Microsecond), 1}, {expiry, 0}, {expiry.Add(time.Microsecond), 0},
	} {
		set(c.at)
		count, err := pastes.ActiveCount(t.Context())
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
		got := [...]int{len(listIDs(t, pastes, "owner")), int(count), len(account.Stars), int(totals.ActivePastes),
			1 - int(totals.ExpiredPastes)}
		if got != [...]int{c.active, c.active, c.active, c.active, c.active} {
			t.Errorf("%v after the expiry: got %v (listed, counted, starred, in the totals, not expired there), want %d each",
				c.at.Sub(expiry), got, c.active)
		}
		if today := c.at.Truncate(24 * time.Hour); !totals.Days[0].Begin.Equal(today) {
			t.Errorf("%v after the expiry: got %v as today, want %v", c.at.Sub(expiry), totals.Days[0].Begin, today)
		}
	}
	for _, c := range []struct {
		at      time.Time
		removed int
	}{
		{expiry.Add(time.Hour - time.Microsecond), 0}, {expiry.Add(time.Hour), 1},
	} {
		set(c.at)
		if removed, err := pastes.RemoveExpired(t.Context(), time.Hour, 10); removed != c.removed || err != nil {
			t.Errorf("%v after the expiry: got %d removed, error %v, want %d", c.at.Sub(expiry), removed, err,
				c.removed)
		}
	}
}

// TestSweepLeavesWhatJustExpired checks the default grace of the sweep: the write timeout and a margin.
func TestSweepLeavesWhatJustExpired(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		node, pastes := open(t, cfg), gormstore.NewPastes(database.Open(t, cfg))
		for id, ago := range map[paste.ID]time.Duration{"just": time.Second, "long": time.Hour} {
			expired := paste.Paste{ID: id, CreatedAt: time.Now(), ExpiresAt: time.Now().Add(-ago)}
			if err := pastes.CreateDocument(t.Context(), paste.Document{Paste: expired}); err != nil {
				t.Fatal(err)
			}
		}
		if removed, err := node.Pastes.Sweep.Do(t.Context()); removed != 1 || err != nil {
			t.Errorf("got %d removed, error %v, want 1", removed, err)
		}
		if ids := column(t, database.SQL(t, cfg), "SELECT id FROM pastes"); !slices.Equal(ids, []string{"just"}) {
			t.Errorf("got the pastes %v, want only just", ids)
		}
	})
}
