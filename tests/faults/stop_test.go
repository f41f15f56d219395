package faults

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/freeport"
	"github.com/gluepot/gluepot/tests/program"
)

// drainDelay is the setting of nodes that are stopped. It is longer than the pauses between two requests of a client
// and two checks of a balancer, even on a busy machine.
const drainDelay = "GLUEPOT_HTTP_DRAIN_DELAY=3s"

// TestStopUnderLoad stops a node twice under load, on each database. It must answer every request on a connection that
// it has accepted, and exit with 0.
func TestStopUnderLoad(t *testing.T) {
	t.Parallel()
	const stops = 2
	onEach(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		var persistent, fresh tally
		var longest time.Duration
		for range stops {
			node := serve(t, cfg.URL, drainDelay)
			// Once the node is stopping, clients whose connection is closed do not connect again.
			var stopping atomic.Bool
			to := func() string {
				if stopping.Load() {
					return ""
				}
				return node.Address
			}
			keepAlive := load{clients: 24, pause: time.Millisecond, to: to, questions: fixtureQuestions()}.start(t)
			reconnecting := load{clients: 8, reconnect: true, to: at(node.Address), questions: fixtureQuestions()}.start(t)
			time.Sleep(500 * time.Millisecond)
			start := time.Now()
			stopping.Store(true)
			node.Signal(syscall.SIGTERM)
			if code := node.Wait(); code != 0 {
				t.Errorf("got exit code %d, want 0: %s", code, &node.Stderr)
			}
			longest = max(longest, time.Since(start))
			persistent.add(keepAlive.stop())
			fresh.add(reconnecting.stop())
		}
		record(t, "requests on persistent connections", &persistent, "all right")
		record(t, "requests on new connections", &fresh, "none wrong; refused once it no longer listens")
		record(t, "longest stop", longest.Round(time.Millisecond), "")
		persistent.wantAllRight(t)
		if fresh.right == 0 || fresh.wrong+fresh.unavailable > 0 {
			t.Errorf("new connections: got %v, want some right, and none wrong or 503: %q", &fresh, fresh.samples)
		}
	})
}

// TestRollingRestart restarts two nodes in turn behind a balancer that checks /readyz. No request may fail.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	program.Fixture(t, cfg)
	var addresses [2]string
	var nodes [2]*program.Process
	for i := range nodes {
		addresses[i] = freeport.Address(t)
		nodes[i] = serveAt(t, cfg.URL, addresses[i])
	}
	b := balance(t, addresses[:]...)
	program.Eventually(t, "the balancer knows a node", func() bool { return b.pick() != "" })
	persistent := load{clients: 16, pause: time.Millisecond, to: b.pick, questions: fixtureQuestions()}.start(t)
	fresh := load{clients: 4, reconnect: true, pause: time.Millisecond, to: b.pick, questions: fixtureQuestions()}.start(t)
	for range 2 {
		for i, node := range nodes {
			time.Sleep(300 * time.Millisecond)
			node.Signal(syscall.SIGTERM)
			if code := node.Wait(); code != 0 {
				t.Errorf("got exit code %d, want 0: %s", code, &node.Stderr)
			}
			nodes[i] = serveAt(t, cfg.URL, addresses[i])
			program.Eventually(t, "the balancer knows the node again", b.nodes[i].ready.Load)
		}
	}
	time.Sleep(300 * time.Millisecond)
	for what, total := range map[string]*tally{"requests on persistent connections": persistent.stop(),
		"requests on new connections": fresh.stop()} {
		record(t, what, fmt.Sprint(total, "; ", total.wait()), "all right")
		total.wantAllRight(t)
	}
}

func serveAt(t *testing.T, databaseURL, address string) *program.Process {
	t.Helper()
	// On a busy machine the database is slow, which must not cause a 503.
	return serve(t, databaseURL, drainDelay, "GLUEPOT_HTTP_ADDR="+address, "GLUEPOT_HTTP_REQUEST_TIMEOUT=25s",
		"GLUEPOT_DATABASE_CONNECT_TIMEOUT=20s")
}

// TestStopStoresLastUses uses one token before a node gets the signal to stop, and another while it drains. Both uses
// must be stored when it has exited.
func TestStopStoresLastUses(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		node := serve(t, cfg.URL, drainDelay, "GLUEPOT_TOKEN_USE_INTERVAL=1h")
		use := func(token string) {
			t.Helper()
			if status, body := node.Get("/user/self", token); status != http.StatusOK {
				t.Fatalf("got %d %s, want 200", status, body)
			}
		}
		use(program.EpoxyToken)
		node.Signal(syscall.SIGTERM)
		program.Eventually(t, "the node is draining", func() bool { return !ready(node) })
		time.Sleep(200 * time.Millisecond) // until a premature store would be done
		use(program.MortarToken)
		if code := node.Wait(); code != 0 {
			t.Errorf("got exit code %d, want 0: %s", code, &node.Stderr)
		}
		var tokens int
		if err := database.SQL(t, cfg).QueryRowContext(t.Context(),
			"SELECT count(*) FROM access_tokens WHERE last_used_at IS NOT NULL").Scan(&tokens); err != nil {
			t.Fatal(err)
		}
		record(t, "tokens used before and during the drain", 2, "")
		record(t, "of them with a stored use", tokens, "2")
		if tokens != 2 {
			t.Errorf("got %d stored last-used times, want 2", tokens)
		}
	})
}
