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

// outage is how long the database is away: no request of its beginning may wait for its end.
const outage = requestTimeout + time.Second

// TestPostgresKilled kills PostgreSQL with all its processes, and starts it again.
func TestPostgresKilled(t *testing.T) {
	t.Parallel()
	server := database.StartBreakable(t)
	program.Fixture(t, server.Config)
	survive(t, serve(t, server.Config.URL), func() { server.Kill(t) }, func() { server.Start(t) })
}

// TestPostgresFrozen stops PostgreSQL's processes: the kernel accepts connections, and nothing answers.
func TestPostgresFrozen(t *testing.T) {
	t.Parallel()
	server := database.StartBreakable(t)
	program.Fixture(t, server.Config)
	survive(t, serve(t, server.Config.URL), func() { server.Freeze(t) }, func() { server.Thaw(t) })
}

// TestPostgresPartitioned drops every packet between the node and PostgreSQL. Connections from that time stay dead.
func TestPostgresPartitioned(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	program.Fixture(t, cfg)
	proxy, through := faultproxy.Start(t, cfg)
	survive(t, serve(t, through.URL), proxy.Drop, proxy.Resume)
}

// TestPostgresOutOfConnections holds every connection of PostgreSQL, which then answers the node with a refusal.
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
	held := []*sql.Conn{first}
	survive(t, node, func() {
		// The node is kept out until the others have them all: it would race with them for each.
		proxy.Refuse()
		program.Eventually(t, "others have every connection", func() bool {
			connection, err := db.Conn(t.Context())
			for ; err == nil; connection, err = db.Conn(t.Context()) {
				held = append(held, connection)
			}
			if len(held) == connections {
				return true
			}
			// The fixture still has some, and the node's end when PostgreSQL notices.
			if _, err := first.ExecContext(t.Context(),
				"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'gluepot'"); err != nil {
				t.Fatal(err)
			}
			return false
		})
		proxy.Resume()
		program.Eventually(t, "an answer says that PostgreSQL takes no more connections", func() bool {
			status, body := node.Get("/user/epoxy", "")
			return status == http.StatusServiceUnavailable && strings.Contains(body, "takes no more connections")
		})
	}, func() {
		for _, connection := range held {
			_ = connection.Close() // back to the pool
		}
		_ = db.Close()
	})
}

// survive takes the database away from a node under load and gives it back. Meanwhile every answer is
// right or a prompt 503, what needs no database is answered as ever, and the node does not claim to be
// ready; afterwards it is ready, and all is right, without a restart.
func survive(t *testing.T, node *program.Process, breakDatabase, mendDatabase func()) {
	t.Helper()
	languages := load{clients: 2, pause: 10 * time.Millisecond, to: at(node.Address), questions: []question{
		{"/data/language?name=Go", "", func(status int, _ string) bool { return status == 200 }},
		{"/healthz", "", func(status int, _ string) bool { return status == 200 }},
	}}.start(t)
	asking := load{clients: 16, pause: 10 * time.Millisecond, to: at(node.Address), questions: fixtureQuestions()}.start(t)
	time.Sleep(time.Second)
	before := &tally{}
	program.Eventually(t, "there are answers", func() bool {
		before.add(asking.cut())
		return before.asked() > 0
	})
	before.wantAllRight(t)

	breakDatabase()
	broken := time.Now()
	during := &tally{}
	program.Eventually(t, "answers are 503", func() bool {
		during.add(asking.cut())
		return during.unavailable > 0
	})
	if ready(node) {
		t.Error("got a node that says it is ready, want one that is not")
	}
	time.Sleep(time.Until(broken.Add(outage)))
	mendDatabase()
	became := untilReady(t, node)
	during.add(asking.cut())

	began := time.Now()
	program.Eventually(t, "all answers are right", func() bool {
		time.Sleep(200 * time.Millisecond)
		counted := asking.cut()
		during.add(counted)
		return counted.right > 0 && counted.right == counted.asked()
	})
	recovered := time.Since(began) - 200*time.Millisecond
	after := load{clients: 16, pause: 10 * time.Millisecond, to: at(node.Address),
		questions: fixtureQuestions()}.run(t, time.Second)
	during.add(asking.stop())
	always := languages.stop()
	record(t, "before", fmt.Sprint(before, "; ", before.wait()), "all right")
	record(t, "while it was away", fmt.Sprint(during, "; longest ", during.percentile(1)),
		fmt.Sprint("right or 503, within ", promptly))
	record(t, "languages and /healthz during that time", fmt.Sprint(always, "; ", always.wait()), "all right")
	record(t, "ready again after", became, fmt.Sprint("within ", program.Patience))
	record(t, "all right again after that within", recovered.Round(time.Millisecond),
		fmt.Sprint("within ", program.Patience))
	record(t, "afterwards", fmt.Sprint(after, "; ", after.wait()), "all right")
	during.wantRightOr503(t, promptly)
	always.wantAllRight(t)
	after.wantAllRight(t)
}

// TestStopWhileDatabaseHangs stops a node that has last-used times to store while PostgreSQL is frozen: it ends in time
// and succeeds, because it could do no more.
func TestStopWhileDatabaseHangs(t *testing.T) {
	t.Parallel()
	server := database.StartBreakable(t)
	program.Fixture(t, server.Config)
	node := serve(t, server.Config.URL, "GLUEPOT_HTTP_DRAIN_TIMEOUT=2s", "GLUEPOT_TOKEN_USE_INTERVAL=1h")
	if status, body := node.Get("/user/self", program.EpoxyToken); status != 200 {
		t.Fatalf("got %d %s, want 200", status, body)
	}
	asking := load{clients: 8, pause: time.Millisecond, to: at(node.Address), questions: fixtureQuestions()}.start(t)
	time.Sleep(200 * time.Millisecond)
	server.Freeze(t)
	began := time.Now()
	node.Signal(syscall.SIGTERM)
	select {
	case <-node.Exited:
	case <-time.After(program.Patience):
		t.Fatalf("got no stop within %v, want one", program.Patience)
	}
	took, code := time.Since(began).Round(time.Millisecond), node.Cmd.ProcessState.ExitCode()
	server.Thaw(t)
	asking.stop()
	record(t, "exit code", code, "0")
	record(t, "time to stop", took, fmt.Sprint("less than ", program.Patience))
	if code != 0 {
		t.Errorf("got exit code %d after %v, want 0", code, took)
	}
}
