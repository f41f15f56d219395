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

// lookups are questions about one key, which must not wait for other requests.
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

// TestMassExpiry lets 10,000 pastes expire at one instant while clients count and look up and the sweep runs. Each
// count must be the one before or the one after, depending on the time of the request.
func TestMassExpiry(t *testing.T) {
	const (
		expiring = 10_000
		watch    = 3 * time.Second // after that instant
		lasting  = 5               // active pastes of the fixture
	)
	onEach(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		db := database.SQL(t, cfg)
		node := program.Serve(t, cfg.URL, "GLUEPOT_SWEEP_INTERVAL=100ms")
		expiry := insertExpiring(t, cfg, db, expiring)

		// The right count depends on the times of the request and of the answer.
		var mu sync.Mutex
		answers := map[string]int{}
		counters := load{clients: 32, to: at(node.Address), ask: func() question {
			begin := time.Now()
			return question{path: "/data/numPastes", right: func(status int, body string) bool {
				mu.Lock()
				answers[body]++
				mu.Unlock()
				count, ok := numPastes(body)
				before := count == lasting+expiring && begin.Before(expiry)
				after := count == lasting && !time.Now().Before(expiry)
				return status == http.StatusOK && ok && (before || after)
			}}
		}}
		background := load{clients: 8, pause: time.Millisecond, to: at(node.Address), questions: lookups()}.start(t)
		time.Sleep(time.Second)
		alone := background.cut()
		counting := counters.start(t)
		time.Sleep(time.Until(expiry))
		beside, counts := background.cut(), counting.cut()
		time.Sleep(watch)
		after, countsAfter := background.stop(), counting.stop()
		counts.add(countsAfter)

		record(t, "counts", fmt.Sprint(counts, "; ", counts.wait()), "right or 503")
		record(t, "different counts", len(answers), "2: before, after")
		record(t, "lookups alone", alone.wait(), "")
		record(t, "lookups beside 32 clients that count", beside.wait(), "")
		record(t, "lookups after the expiry", after.wait(), "all right")
		record(t, fmt.Sprint("expired pastes left after ", watch),
			number(t, db, "SELECT count(*) FROM pastes WHERE id LIKE 'x%'"), "")
		counts.wantRightOr503(t, answerLimit)
		if len(answers) != 2 || counts.right == 0 {
			t.Errorf("got %d different counts, want two", len(answers))
		}
		beside.wantAllRight(t)
		after.wantAllRight(t)
	})
}

// TestSweepBesideLookups sweeps 30,000 pastes that expired long ago while clients count and look up. The count must
// stay the same.
func TestSweepBesideLookups(t *testing.T) {
	const (
		expired = 30_000
		watch   = 3 * time.Second
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
		background := load{clients: 8, pause: time.Millisecond, to: at(node.Address), questions: lookups()}.start(t)
		time.Sleep(watch)
		counts, beside := counting.stop(), background.stop()
		remaining := expired
		program.Eventually(t, "the sweep makes progress", func() bool {
			remaining = number(t, db, "SELECT count(*) FROM pastes WHERE id LIKE 'x%'")
			return remaining < expired
		})
		record(t, "counts", fmt.Sprint(counts, "; ", counts.wait()), "right or 503")
		record(t, "lookups", fmt.Sprint(beside, "; ", beside.wait()), "all right")
		record(t, fmt.Sprint("expired pastes left after ", watch), remaining, fmt.Sprint("less than ", expired))
		counts.wantRightOr503(t, answerLimit)
		beside.wantAllRight(t)
	})
}

// insertExpiring stores pastes that expire at one instant, a few seconds from now, and returns that instant.
func insertExpiring(t *testing.T, cfg gormstore.Config, db *sql.DB, count int) time.Time {
	t.Helper()
	// How long it takes to store the rows depends on the machine.
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
	t.Fatal("got rows that are stored too slowly to see them expire")
	return time.Time{}
}

func onSQLite(cfg gormstore.Config) bool { return strings.HasPrefix(cfg.URL, "sqlite://") }

// TestLongListsBesideLookups reads lists of 100,000 ids repeatedly with 64 clients. Lookups and the orchestrator's
// checks must still be answered.
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
	background := load{clients: 8, pause: time.Millisecond, to: at(node.Address), questions: checks}.start(t)
	time.Sleep(time.Second)
	alone := background.cut()
	lists := load{clients: clients, to: at(node.Address), questions: []question{{"/user/self/pastes", program.MortarToken,
		func(status int, body string) bool {
			return status == http.StatusOK && strings.HasPrefix(body, `["l1","l2",`) && strings.HasSuffix(body, `"]`) &&
				strings.Count(body, ",") == pastes-1
		}}}}.start(t)
	time.Sleep(4 * time.Second)
	beside, memory := background.stop(), residentMemory(t, node)
	long := lists.stop()
	record(t, fmt.Sprint("lists of ", pastes, " ids"), fmt.Sprint(long, "; ", long.wait()), "right or 503")
	record(t, "lookups alone", fmt.Sprint(alone, "; ", alone.wait()), "all right")
	record(t, fmt.Sprint("lookups beside ", clients, " clients that read lists"),
		fmt.Sprint(beside, "; ", beside.wait()), "all right")
	record(t, "resident memory", mib(memory), "")
	long.wantRightOr503(t, answerLimit)
	alone.wantAllRight(t)
	beside.wantAllRight(t)
}

// TestLockBesideLookups locks the table of pastes for three seconds while 64 clients send requests that need it.
// Lookups of users and readiness checks must not wait.
func TestLockBesideLookups(t *testing.T) {
	const (
		lockTime = 3 * time.Second
		bearable = lockTime - 500*time.Millisecond // a request that waits for the lock takes longer
	)
	cfg := database.Postgres(t)
	program.Fixture(t, cfg)
	node := program.Serve(t, cfg.URL)
	ready := func(status int, _ string) bool { return status == http.StatusOK }
	checks := append(lookups(), question{"/readyz", "", ready})
	background := load{clients: 4, pause: time.Millisecond, to: at(node.Address), questions: checks}.start(t)
	blocked := load{clients: 64, pause: time.Millisecond, to: at(node.Address),
		questions: fixtureQuestions()[2:5]}.start(t)
	time.Sleep(time.Second)
	before, blockedBefore := background.cut(), blocked.cut()
	tx, err := database.SQL(t, cfg).BeginTx(context.Background(), &sql.TxOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback() //nolint:errcheck // does nothing after a commit
	if _, err := tx.ExecContext(t.Context(), "LOCK TABLE pastes IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	blocked.cut()
	time.Sleep(lockTime)
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	beside := background.cut()
	time.Sleep(time.Second)
	beside.add(background.stop()) // with those that waited until the end of the lock
	after := blocked.stop()
	record(t, "users and readiness before", fmt.Sprint(before, "; ", before.wait()), "all right")
	record(t, fmt.Sprint("users and readiness during a lock of ", lockTime), fmt.Sprint(beside, "; ", beside.wait()),
		fmt.Sprint("all right, within ", bearable))
	record(t, "requests that need the table, before", fmt.Sprint(blockedBefore, "; ", blockedBefore.wait()), "")
	record(t, "requests that need the table, during the lock and after", fmt.Sprint(after, "; ", after.wait()),
		"right or 503")
	beside.wantAllRight(t)
	after.wantRightOr503(t, answerLimit)
	if longest := beside.percentile(1); longest > bearable {
		t.Errorf("got a wait of %v, want at most %v", longest, bearable)
	}
}
