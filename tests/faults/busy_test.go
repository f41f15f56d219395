package faults

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// lookups ask for what is found by one key; none of it may wait for what others ask.
func lookups() []question {
	return []question{fixtureQuestions()[0], fixtureQuestions()[1], fixtureQuestions()[5]}
}

// numPastes reads a count.
func numPastes(body string) (count int64, ok bool) {
	var answer struct{ NumPastes *int64 }
	if err := json.Unmarshal([]byte(body), &answer); err != nil || answer.NumPastes == nil {
		return 0, false
	}
	return *answer.NumPastes, true
}

// TestMassExpiry lets 10,000 pastes expire at one instant while clients count and look up and the sweeper runs: each
// count is the one before or the one after, depending on when it was asked for.
func TestMassExpiry(t *testing.T) {
	const (
		expiring = 10_000
		watched  = 3 * time.Second // after that
		lasting  = 5               // of the fixture
	)
	onEach(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		db := database.SQL(t, cfg)
		node := program.Serve(t, cfg.URL, "GLUEPOT_SWEEP_INTERVAL=100ms")
		expiry := insertExpiring(t, cfg, db, expiring)

		// What a count may be depends on when it was asked and answered.
		var mu sync.Mutex
		seen := map[string]int{}
		counting := load{clients: 32, to: at(node.Address), ask: func() question {
			begin := time.Now()
			return question{path: "/data/numPastes", right: func(status int, body string) bool {
				mu.Lock()
				seen[body]++
				mu.Unlock()
				count, ok := numPastes(body)
				before := count == lasting+expiring && begin.Before(expiry)
				after := count == lasting && !time.Now().Before(expiry)
				return status == http.StatusOK && ok && (before || after)
			}}
		}}
		looking := load{clients: 8, pause: time.Millisecond, to: at(node.Address), questions: lookups()}.start(t)
		time.Sleep(time.Second)
		alone := looking.cut()
		counter := counting.start(t)
		time.Sleep(time.Until(expiry))
		beside, counts := looking.cut(), counter.cut()
		time.Sleep(watched)
		meanwhile, countsMeanwhile := looking.stop(), counter.stop()
		counts.add(countsMeanwhile)

		record(t, "counts", fmt.Sprint(counts, "; ", counts.wait()), "right or 503")
		record(t, "counts of which there were", len(seen), "2: before, after")
		record(t, "look-ups alone", alone.wait(), "")
		record(t, "look-ups beside 32 who count", beside.wait(), "")
		record(t, "look-ups once they have expired", meanwhile.wait(), "all right")
		record(t, fmt.Sprint("expired pastes left after ", watched),
			number(t, db, "SELECT count(*) FROM pastes WHERE id LIKE 'x%'"), "")
		counts.wantRightOr503(t, answerLimit)
		if len(seen) != 2 || counts.right == 0 {
			t.Errorf("got %d different counts, want two", len(seen))
		}
		beside.wantAllRight(t)
		meanwhile.wantAllRight(t)
	})
}

// TestSweepBesideLookups removes 30,000 pastes that expired long ago while clients count and look up: the
// count is the same all the time.
func TestSweepBesideLookups(t *testing.T) {
	const (
		expired = 30_000
		watched = 3 * time.Second
	)
	onEach(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		insertPastes(t, cfg, "x", expired, time.Now().Add(-24*time.Hour))
		db := database.SQL(t, cfg)
		if _, err := db.ExecContext(t.Context(), "ANALYZE"); err != nil {
			t.Fatal(err)
		}
		node := program.Serve(t, cfg.URL, "GLUEPOT_SWEEP_INTERVAL=100ms")
		counting := load{clients: 32, to: at(node.Address), questions: fixtureQuestions()[4:5]}.start(t)
		looking := load{clients: 8, pause: time.Millisecond, to: at(node.Address), questions: lookups()}.start(t)
		time.Sleep(watched)
		counts, looked := counting.stop(), looking.stop()
		remaining := expired
		program.Eventually(t, "the sweeper gets on", func() bool {
			remaining = number(t, db, "SELECT count(*) FROM pastes WHERE id LIKE 'x%'")
			return remaining < expired
		})
		record(t, "counts", fmt.Sprint(counts, "; ", counts.wait()), "right or 503")
		record(t, "look-ups", fmt.Sprint(looked, "; ", looked.wait()), "all right")
		record(t, fmt.Sprint("expired pastes left after ", watched), remaining, fmt.Sprint("less than ", expired))
		counts.wantRightOr503(t, answerLimit)
		looked.wantAllRight(t)
	})
}

// insertExpiring stores pastes that expire at one instant, a few seconds from now, and returns that instant.
func insertExpiring(t *testing.T, cfg gormstore.Config, db *sql.DB, count int) time.Time {
	t.Helper()
	// Storing the rows takes a while; how long, depends on the machine.
	for allowance := 5 * time.Second; allowance < 10*time.Minute; allowance *= 3 {
		expiry := time.Now().Add(allowance)
		insertPastes(t, cfg, "x", count, expiry)
		if _, err := db.ExecContext(t.Context(), "ANALYZE"); err != nil {
			t.Fatal(err)
		}
		if time.Until(expiry) > 3*time.Second {
			return expiry
		}
		if _, err := db.ExecContext(t.Context(), "DELETE FROM pastes WHERE id LIKE 'x%'"); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("got the rows stored too slowly to see them expire")
	return time.Time{}
}

func onSQLite(cfg gormstore.Config) bool { return strings.HasPrefix(cfg.URL, "sqlite://") }

// TestLongListsBesideLookups reads lists of 100,000 ids with 64 clients again and again: look-ups and the
// orchestrator's checks are still answered.
func TestLongListsBesideLookups(t *testing.T) {
	const clients, pastes = 64, 100_000
	cfg := database.Postgres(t)
	program.Fixture(t, cfg)
	db := database.SQL(t, cfg)
	for _, statement := range []string{
		insertInto("id, owner_id, created_at",
			fmt.Sprintf("'l' || n, 'mortar01', now() - n * interval '1 second' FROM generate_series(1, %d) n", pastes)),
		"VACUUM ANALYZE",
	} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	node := program.Serve(t, cfg.URL)
	checks := append(lookups(), fixtureQuestions()[2], question{"/readyz", "", func(status int, _ string) bool {
		return status == http.StatusOK
	}})
	looking := load{clients: 8, pause: time.Millisecond, to: at(node.Address), questions: checks}.start(t)
	time.Sleep(time.Second)
	alone := looking.cut()
	lists := load{clients: clients, to: at(node.Address), questions: []question{{"/user/self/pastes", program.MortarToken,
		func(status int, body string) bool {
			return status == http.StatusOK && strings.HasPrefix(body, `["l1","l2",`) && strings.HasSuffix(body, `"]`) &&
				strings.Count(body, ",") == pastes-1
		}}}}.start(t)
	time.Sleep(4 * time.Second)
	beside, memory := looking.stop(), residentMemory(t, node)
	long := lists.stop()
	record(t, fmt.Sprint("lists of ", pastes, " ids"), fmt.Sprint(long, "; ", long.wait()), "right or 503")
	record(t, "look-ups alone", fmt.Sprint(alone, "; ", alone.wait()), "all right")
	record(t, fmt.Sprint("look-ups beside ", clients, " who read lists"),
		fmt.Sprint(beside, "; ", beside.wait()), "all right")
	record(t, "resident memory", mib(memory), "")
	long.wantRightOr503(t, answerLimit)
	alone.wantAllRight(t)
	beside.wantAllRight(t)
}

// TestLockBesideLookups holds a lock on the table of pastes for three seconds while 64 clients send requests that need
// it: look-ups of users and readiness checks do not wait.
func TestLockBesideLookups(t *testing.T) {
	const (
		held     = 3 * time.Second
		bearable = held - 500*time.Millisecond // a request that waits for the lock takes longer
	)
	cfg := database.Postgres(t)
	program.Fixture(t, cfg)
	node := program.Serve(t, cfg.URL)
	ready := func(status int, _ string) bool { return status == http.StatusOK }
	checks := append(lookups(), question{"/readyz", "", ready})
	looking := load{clients: 4, pause: time.Millisecond, to: at(node.Address), questions: checks}.start(t)
	waiting := load{clients: 64, pause: time.Millisecond, to: at(node.Address),
		questions: fixtureQuestions()[2:5]}.start(t)
	time.Sleep(time.Second)
	before, waitingBefore := looking.cut(), waiting.cut()
	tx, err := database.SQL(t, cfg).BeginTx(context.Background(), &sql.TxOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback() //nolint:errcheck // does nothing after a commit
	if _, err := tx.ExecContext(t.Context(), "LOCK TABLE pastes IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	waiting.cut()
	time.Sleep(held)
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	beside := looking.cut()
	time.Sleep(time.Second)
	beside.add(looking.stop()) // with those who waited until the end of the lock
	after := waiting.stop()
	record(t, "users and readiness before", fmt.Sprint(before, "; ", before.wait()), "all right")
	record(t, fmt.Sprint("users and readiness during a lock of ", held), fmt.Sprint(beside, "; ", beside.wait()),
		fmt.Sprint("all right, within ", bearable))
	record(t, "what needs the table, before", fmt.Sprint(waitingBefore, "; ", waitingBefore.wait()), "")
	record(t, "what needs the table, during the lock and after", fmt.Sprint(after, "; ", after.wait()), "right or 503")
	beside.wantAllRight(t)
	after.wantRightOr503(t, answerLimit)
	if longest := beside.percentile(1); longest > bearable {
		t.Errorf("got a wait of %v, want at most %v", longest, bearable)
	}
}
