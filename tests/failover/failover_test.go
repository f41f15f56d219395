// Package failover takes the primary of a cluster away from three nodes, in every way in which that happens, and looks
// whether nothing acknowledged is lost, every answer is right or a 503, and no node goes on with a former primary.
//
// The cluster is what people run: PostgreSQL with Patroni and etcd, HAProxy and PgBouncer, from Debian's packages and
// on the files of docs/operations/ha. "make test-failover" runs it.
package failover

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

var docs = flag.String("docs", "", "write the table into SCALING.md in this folder")

func TestMain(m *testing.M) {
	flag.Parse()
	code := database.Main(m)
	program.Remove()
	results.print(os.Stdout)
	if *docs != "" && code == 0 {
		if err := results.writeDocs(*docs); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

const (
	// calm is how long the load runs before and after what happens.
	calm = 3 * time.Second
	// unseen is how long a profile may take, which replicas have all the while: what a slow machine takes for a request.
	unseen = 5 * time.Second
)

// scenario is a way to lose the primary. happen makes it happen under load; it returns the former primary, if there is
// one, and when another server was the primary. mend brings back what was lost.
type scenario struct {
	name, title string
	happen      func(t *testing.T, c *cluster, leader *member) (became time.Time)
	mend        func(t *testing.T, c *cluster, former *member)
	fencedBy    string // the one way to the primary that keeps nodes from a former one; empty: any
}

var scenarios = []scenario{
	{
		name: "killed primary", title: "kill -9 of the primary: PostgreSQL and its Patroni",
		happen: func(t *testing.T, c *cluster, leader *member) time.Time {
			leader.patroni.kill()
			signal(t, leader, syscall.SIGKILL)
			return c.waitForPrimary(t, leader)
		},
		mend: func(t *testing.T, _ *cluster, former *member) { former.startPatroni(t) },
	},
	{
		// Nodes that are given several hosts would go on reading from the former primary: only a watchdog stops it.
		name: "killed Patroni", title: "kill -9 of the primary's Patroni: its PostgreSQL goes on", fencedBy: "HAProxy",
		happen: func(t *testing.T, c *cluster, leader *member) time.Time {
			leader.patroni.kill()
			became := c.waitForPrimary(t, leader)
			if !leader.isPrimary() {
				t.Error("got a former primary that knows that it is one, want one that does not")
			}
			return became
		},
		mend: func(t *testing.T, _ *cluster, former *member) { former.startPatroni(t) },
	},
	{
		name: "killed etcd", title: "kill -9 of etcd's leader",
		happen: func(t *testing.T, c *cluster, _ *member) time.Time {
			lost := c.etcdLeader(t)
			lost.etcd.kill()
			if c.etcdLeader(t) == lost {
				t.Error("got the member that was killed, want another")
			}
			time.Sleep(2 * calm) // Patroni asks it every five seconds
			lost.startEtcd(t)
			return time.Time{}
		},
		mend: func(*testing.T, *cluster, *member) {},
	},
	{
		// The same until Patroni, which goes on later than the server here, sees that there is another.
		name: "paused primary", title: "SIGSTOP of the primary, and SIGCONT once there is another", fencedBy: "HAProxy",
		happen: func(t *testing.T, c *cluster, leader *member) time.Time {
			_ = leader.patroni.cmd.Process.Signal(syscall.SIGSTOP)
			signal(t, leader, syscall.SIGSTOP)
			return c.waitForPrimary(t, leader)
		},
		mend: func(t *testing.T, _ *cluster, former *member) {
			signal(t, former, syscall.SIGCONT)
			time.Sleep(calm) // there are two until Patroni looks
			_ = former.patroni.cmd.Process.Signal(syscall.SIGCONT)
		},
	},
	{
		name: "switchover", title: "switchover on command",
		happen: func(t *testing.T, c *cluster, leader *member) time.Time {
			c.patronictl(t, "switchover", "gluepot", "--leader", leader.name, "--force")
			return c.waitForPrimary(t, leader)
		},
		mend: func(*testing.T, *cluster, *member) {},
	},
}

func signal(t *testing.T, m *member, what syscall.Signal) {
	t.Helper()
	if err := database.SignalServer(m.data(), what); err != nil {
		t.Error(err)
	}
}

// TestFailover runs three nodes that find the primary through HAProxy, and three that find it among several hosts.
func TestFailover(t *testing.T) {
	c := startCluster(t)
	leader := c.waitUntilWhole(t)
	for _, statement := range []string{
		"CREATE ROLE gluepot LOGIN PASSWORD 'change-me'", "CREATE DATABASE gluepot OWNER gluepot",
	} {
		if err := leader.ask(statement); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range c.members { // a client that is told that there is no such database asks no other host
		within(t, settlingTime, "every server has the database", func() bool {
			there := 0
			return m.ask("SELECT count(*) FROM pg_database WHERE datname = 'gluepot'", &there) == nil && there > 0
		})
	}
	urls, settings := c.settings(t)
	if !t.Run("migrate", func(t *testing.T) {
		if code, _, stderr := program.Run(t, []string{"GLUEPOT_DATABASE_URL=" + urls["several hosts"]},
			"migrate", "up"); code != 0 {
			t.Fatal(stderr)
		}
		cfg := gormstore.DefaultConfig()
		cfg.URL = urls["several hosts"]
		program.Fixture(t, cfg)
	}) {
		return
	}
	var groups []*group
	for _, name := range []string{"HAProxy", "several hosts"} {
		g := &group{name: name}
		for range 3 {
			g.nodes = append(g.nodes, program.Serve(t, urls[name], settings...))
		}
		groups = append(groups, g)
	}
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			s.run(t, c, slices.DeleteFunc(slices.Clone(groups), func(g *group) bool {
				return s.fencedBy != "" && g.name != s.fencedBy
			}))
		})
	}
}

// settings reads gluepot.env: the URL by each way to the primary, and the other settings.
func (c *cluster) settings(t *testing.T) (urls map[string]string, others []string) {
	t.Helper()
	content, err := os.ReadFile(c.render(t, "gluepot.env", nil))
	if err != nil {
		t.Fatal(err)
	}
	urls = make(map[string]string)
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		url, ok := strings.CutPrefix(strings.TrimPrefix(line, "#"), "GLUEPOT_DATABASE_URL=")
		switch {
		case ok && strings.Contains(url, c.proxy):
			urls["HAProxy"] = url
		case ok && strings.Contains(url, ","):
			urls["several hosts"] = url
		case !ok && strings.HasPrefix(line, "GLUEPOT_"):
			others = append(others, line)
		}
	}
	if len(urls) != 2 || len(others) == 0 {
		t.Fatalf("got %v and %v of gluepot.env, want both ways to the primary and some settings", urls, others)
	}
	return urls, others
}

func (s scenario) run(t *testing.T, c *cluster, groups []*group) {
	leader := c.waitUntilWhole(t)
	watches := make(map[*group]*readiness)
	for _, g := range groups {
		watches[g] = watchReadiness(g.nodes)
		defer watches[g].stop()
	}
	for _, w := range watches {
		w.waitUntilReady(t, time.Now())
	}
	load := startLoad(groups)
	defer load.stop()
	time.Sleep(calm)

	happened := time.Now()
	became := s.happen(t, c, leader)
	elected, ready := "none", make(map[*group]string)
	for g, w := range watches {
		if became.IsZero() {
			ready[g] = "were ready"
			if after := w.waitUntilReady(t, happened); after > 0 {
				ready[g] = "were not for some time"
			}
			continue
		}
		elected, ready[g] = seconds(became.Sub(happened)), seconds(w.waitUntilReady(t, became))
	}
	time.Sleep(calm)
	s.mend(t, c, leader)
	c.waitUntilWhole(t)
	time.Sleep(calm)
	ended := load.end()

	lost := load.lost(t, groups[0].nodes[0])
	for _, g := range groups {
		r := result{
			scenario: s.title, way: g.name, writes: g.without(writing, ended), reads: g.without(reading, ended),
			public: g.without(readingPublic, ended), profiles: g.answers(readingPublic), unavailable: g.unavailable,
			wrong: len(g.wrong), acked: g.acked, lost: lost, elected: elected, ready: ready[g],
		}
		results.add(t, r)
		if len(g.wrong) > 0 {
			t.Errorf("by way of %s: got %d answers that are neither right nor 503, want none: %s", g.name, len(g.wrong),
				strings.Join(g.wrong[:min(len(g.wrong), 5)], "; "))
		}
		if r.profiles.right < r.profiles.requests || r.profiles.slowest > unseen {
			t.Errorf("by way of %s: not every profile was answered with, within %v: %v", g.name, unseen, r.profiles)
		}
		if g.acked == 0 {
			t.Errorf("by way of %s: got no write, want some", g.name)
		}
	}
}

// readiness watches whether nodes say that they are ready.
type readiness struct {
	nodes   []*program.Process
	mu      sync.Mutex
	since   []time.Time // each node's: zero while it is not
	stopped chan struct{}
	done    sync.WaitGroup
}

func watchReadiness(nodes []*program.Process) *readiness {
	r := &readiness{nodes: nodes, since: make([]time.Time, len(nodes)), stopped: make(chan struct{})}
	for i, node := range nodes {
		client := http.Client{Timeout: answerLimit}
		r.done.Go(func() {
			for {
				ready := false
				if response, err := client.Get("http://" + node.Address + "/readyz"); err == nil {
					_ = response.Body.Close()
					ready = response.StatusCode == http.StatusOK
				}
				r.mu.Lock()
				switch {
				case !ready:
					r.since[i] = time.Time{}
				case r.since[i].IsZero():
					r.since[i] = time.Now()
				}
				r.mu.Unlock()
				select {
				case <-r.stopped:
					return
				case <-time.After(50 * time.Millisecond):
				}
			}
		})
	}
	return r
}

func (r *readiness) stop() {
	close(r.stopped)
	r.done.Wait()
}

// waitUntilReady waits until every node is ready, and returns how long after the given time the last of them was; those
// that have been all along count for nothing.
func (r *readiness) waitUntilReady(t *testing.T, after time.Time) (last time.Duration) {
	t.Helper()
	within(t, settlingTime, "every node is ready", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		last = 0
		for _, since := range r.since {
			if since.IsZero() {
				return false
			}
			last = max(last, since.Sub(after))
		}
		return true
	})
	return last
}
