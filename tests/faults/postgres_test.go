package faults

import (
	"database/sql"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/faultproxy"
	"github.com/gluepot/gluepot/tests/program"
)

// outage is how long the database is down. No request from its beginning may wait for its end.
const outage = requestTimeout + time.Second

// TestPostgresKilled kills PostgreSQL with all its processes, and starts it again.
func TestPostgresKilled(t *testing.T) {
	t.Parallel()
	server := database.StartBreakable(t)
	program.Fixture(t, server.Config)
	survive(t, serve(t, server.Config.URL), func() { server.Kill(t) }, func() { server.Start(t) })
}

// TestPostgresFrozen freezes PostgreSQL's processes: the kernel accepts connections, but nothing answers.
func TestPostgresFrozen(t *testing.T) {
	t.Parallel()
	server := database.StartBreakable(t)
	program.Fixture(t, server.Config)
	survive(t, serve(t, server.Config.URL), func() { server.Freeze(t) }, func() { server.Thaw(t) })
}

// TestPostgresPartitioned drops all traffic between the node and PostgreSQL. Connections of that time stay dead.
func TestPostgresPartitioned(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	program.Fixture(t, cfg)
	proxy, through := faultproxy.Start(t, cfg)
	survive(t, serve(t, through.URL), proxy.Drop, proxy.Resume)
}

// TestPostgresOutOfConnections takes every connection of PostgreSQL, so that it refuses the node.
func TestPostgresOutOfConnections(t *testing.T) {
	t.Parallel()
	const connections = 20
	server := database.StartBreakable(t, "-c", fmt.Sprint("max_connections=", connections))
	program.Fixture(t, server.Config)
	proxy, through := faultproxy.Start(t, server.Config)
	node := serve(t, through.URL)
	db := database.SQL(t, server.Config)
	first, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	others := []*sql.Conn{first}
	survive(t, node, func() {
		// The proxy keeps the node out until the others have all connections. Otherwise it would race with them.
		proxy.Refuse()
		program.Eventually(t, "others have every connection", func() bool {
			connection, err := db.Conn(t.Context())
			for ; err == nil; connection, err = db.Conn(t.Context()) {
				others = append(others, connection)
			}
			if len(others) == connections {
				return true
			}
			// The fixture still has some, and the node's end only when PostgreSQL notices.
			if _, err := first.ExecContext(t.Context(),
				"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'gluepot'"); err != nil {
				t.Fatal(err)
			}
			return false
		})
		proxy.Resume()
		program.Eventually(t, "an answer says that PostgreSQL accepts no more connections", func() bool {
			status, body := node.Get("/user/epoxy", "")
			return status == http.StatusServiceUnavailable && strings.Contains(body, "accepts no more connections")
		})
	}, func() {
		for _, connection := range others {
			_ = connection.Close() // back to the pool
		}
		_ = db.Close()
	})
}

// survive breaks the database of a node under load, and mends it. During the outage every answer must be right or a
// prompt 503, requests that need no database must work, and the node must not be ready. Afterwards it must be ready,
// and all answers right, without a restart.
func survive(t *testing.T, node *program.Process, breakDatabase, mendDatabase func()) {
	t.Helper()
	languages := load{clients: 2, pause: 10 * time.Millisecond, to: at(node.Address), questions: []question{
		{"/data/language?name=Go", "", func(status int, _ string) bool { return status == 200 }},
		{"/healthz", "", func(status int, _ string) bool { return status == 200 }},
	}}.start(t)
	background := load{clients: 16, pause: 10 * time.Millisecond, to: at(node.Address),
		questions: fixtureQuestions()}.start(t)
	time.Sleep(time.Second)
	before := &tally{}
	program.Eventually(t, "the node answers", func() bool {
		before.add(background.cut())
		return before.asked() > 0
	})
	before.wantAllRight(t)

	breakDatabase()
	outageStart := time.Now()
	during := &tally{}
	program.Eventually(t, "answers are 503", func() bool {
		during.add(background.cut())
		return during.unavailable > 0
	})
	if ready(node) {
		t.Error("got a ready node without its database, want one that is not ready")
	}
	time.Sleep(time.Until(outageStart.Add(outage)))
	mendDatabase()
	readyAfter := waitUntilReady(t, node)
	during.add(background.cut())

	recoveryStart := time.Now()
	program.Eventually(t, "all answers are right", func() bool {
		time.Sleep(200 * time.Millisecond)
		answers := background.cut()
		during.add(answers)
		return answers.right > 0 && answers.right == answers.asked()
	})
	recovery := time.Since(recoveryStart) - 200*time.Millisecond
	after := load{clients: 16, pause: 10 * time.Millisecond, to: at(node.Address),
		questions: fixtureQuestions()}.run(t, time.Second)
	during.add(background.stop())
	always := languages.stop()
	record(t, "before", fmt.Sprint(before, "; ", before.wait()), "all right")
	record(t, "during the outage", fmt.Sprint(during, "; longest ", during.percentile(1)),
		fmt.Sprint("right or 503, within ", promptly))
	record(t, "languages and /healthz during the outage", fmt.Sprint(always, "; ", always.wait()), "all right")
	record(t, "ready again after", readyAfter, fmt.Sprint("within ", program.Patience))
	record(t, "all right after another", recovery.Round(time.Millisecond),
		fmt.Sprint("within ", program.Patience))
	record(t, "afterwards", fmt.Sprint(after, "; ", after.wait()), "all right")
	during.wantRightOr503(t, promptly)
	always.wantAllRight(t)
	after.wantAllRight(t)
}

// TestStopWhileDatabaseHangs stops a node that has last-used times to store while PostgreSQL is frozen. It must exit in
// time and successfully.
func TestStopWhileDatabaseHangs(t *testing.T) {
	t.Parallel()
	server := database.StartBreakable(t)
	program.Fixture(t, server.Config)
	node := serve(t, server.Config.URL, "GLUEPOT_HTTP_DRAIN_TIMEOUT=2s", "GLUEPOT_TOKEN_USE_INTERVAL=1h")
	if status, body := node.Get("/user/self", program.EpoxyToken); status != 200 {
		t.Fatalf("got %d %s, want 200", status, body)
	}
	background := load{clients: 8, pause: time.Millisecond, to: at(node.Address), questions: fixtureQuestions()}.start(t)
	time.Sleep(200 * time.Millisecond)
	server.Freeze(t)
	start := time.Now()
	node.Signal(syscall.SIGTERM)
	select {
	case <-node.Exited:
	case <-time.After(program.Patience):
		t.Fatalf("got a node that still runs after %v, want it to exit", program.Patience)
	}
	elapsed, code := time.Since(start).Round(time.Millisecond), node.Cmd.ProcessState.ExitCode()
	server.Thaw(t)
	background.stop()
	record(t, "exit code", code, "0")
	record(t, "time to stop", elapsed, fmt.Sprint("less than ", program.Patience))
	if code != 0 {
		t.Errorf("got exit code %d after %v, want 0", code, elapsed)
	}
}
