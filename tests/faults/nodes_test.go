package faults

import (
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// requestTimeout is the timeout of nodes whose database is broken. It is much longer than an answer takes on a busy
// machine, which must not cause a 503. An answer may take at most promptly, which also allows for a busy machine.
const (
	requestTimeout = 5 * time.Second
	promptly       = requestTimeout + 5*time.Second
)

// serve starts a node with requestTimeout, unless settings say otherwise.
func serve(t *testing.T, databaseURL string, settings ...string) *program.Process {
	t.Helper()
	return program.Serve(t, databaseURL, append([]string{"GLUEPOT_HTTP_REQUEST_TIMEOUT=" + requestTimeout.String()},
		settings...)...)
}

// onEach runs a scenario on PostgreSQL and then on SQLite.
func onEach(t *testing.T, scenario func(t *testing.T, cfg gormstore.Config)) {
	t.Helper()
	t.Run("postgres", func(t *testing.T) { scenario(t, database.Postgres(t)) })
	t.Run("sqlite", func(t *testing.T) { scenario(t, database.SQLite(t)) })
}

// fixtureQuestions returns questions about program.Fixture, for every endpoint that needs the database.
func fixtureQuestions() []question {
	return []question{
		exactly("/user/epoxy", "", epoxyView+"}"),
		exactly("/user/putty/exists", "", `""`),
		exactly("/user/self", program.EpoxyToken,
			epoxyView+`,"stars":["nobodys1","oldest01"],"serviceIds":{"github":"4815162342","gitlab":"108"}}`),
		exactly("/user/self/pastes", program.EpoxyToken, `["expires1","tie0000b","tie0000a","oldest01"]`),
		exactly("/data/numPastes", "", `{"numPastes":5}`),
		{"/user/nobody", "", func(status int, _ string) bool { return status == http.StatusNotFound }},
		{"/user/self", program.RevokedToken, func(status int, _ string) bool { return status == http.StatusUnauthorized }},
	}
}

const epoxyView = `{"_id":"epoxy001","username":"Epoxy",` +
	`"avatarUrl":"https://example.com/a?b=<c>&d","defaultLang":"C++",` +
	`"publicProfile":true,"supporterLength":24,"contributor":true`

// ready reports whether a node says that it is ready.
func ready(p *program.Process) bool {
	client := http.Client{Timeout: promptly, Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get("http://" + p.Address + "/readyz")
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// waitUntilReady waits until the node is ready, and returns how long that took.
func waitUntilReady(t *testing.T, p *program.Process) time.Duration {
	t.Helper()
	start := time.Now()
	program.Eventually(t, "the node is ready", func() bool { return ready(p) })
	return time.Since(start).Round(time.Millisecond)
}

// residentMemory returns the resident memory of a process, in bytes.
func residentMemory(t *testing.T, p *program.Process) int64 {
	t.Helper()
	return memory(t, p, "VmRSS")
}

// peakMemory returns the peak resident memory of a process, in bytes.
func peakMemory(t *testing.T, p *program.Process) int64 {
	t.Helper()
	return memory(t, p, "VmHWM")
}

func memory(t *testing.T, p *program.Process, kind string) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, kind+":"); ok {
			kib, err := strconv.ParseInt(strings.Fields(text)[0], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return kib << 10
		}
	}
	t.Fatalf("got %s, want a line for the kind of memory", status)
	return 0
}

// mib formats a number of bytes.
func mib(bytes int64) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }

// balancer sends clients to ready nodes in turn.
type balancer struct {
	nodes []*balancedNode
	next  atomic.Uint32
}

type balancedNode struct {
	address string
	ready   atomic.Bool
}

// balancerInterval is the pause between two checks of a node's readiness.
const balancerInterval = 50 * time.Millisecond

// balance starts a balancer for nodes at these addresses, which need not listen yet.
func balance(t *testing.T, addresses ...string) *balancer {
	t.Helper()
	b := &balancer{}
	for _, address := range addresses {
		node := &balancedNode{address: address}
		b.nodes = append(b.nodes, node)
		go func() {
			for t.Context().Err() == nil {
				node.ready.Store(ready(&program.Process{Address: node.address}))
				time.Sleep(balancerInterval)
			}
		}()
	}
	return b
}

// pick returns the address of a ready node, or "".
func (b *balancer) pick() string {
	first := int(b.next.Add(1))
	for i := range b.nodes {
		if node := b.nodes[(first+i)%len(b.nodes)]; node.ready.Load() {
			return node.address
		}
	}
	return ""
}

// gluepot runs a command that must succeed, and returns its output.
func gluepot(t *testing.T, databaseURL, line string, settings ...string) string {
	t.Helper()
	code, stdout, stderr := program.Run(t, append(settings, "GLUEPOT_DATABASE_URL="+databaseURL), strings.Fields(line)...)
	if code != 0 {
		t.Fatalf("%s: got exit code %d, want 0: %s", line, code, stderr)
	}
	return strings.TrimSpace(stdout)
}
