// Package fuzzhttp sends raw bytes to the real program over TCP: requests that are valid, nearly valid and hostile,
// pipelined, split, reset and never finished. An oracle judges every answer and every line of the log.
//
// net/http decides what a request is: the same bytes go to a bare net/http server (reference). The program must answer
// each request that reaches the reference's handler, in order, as documented (site.ask), and malformed ones as net/http
// answers them.
package fuzzhttp

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/openapi"
	"github.com/gluepot/gluepot/tests/program"
)

func TestMain(m *testing.M) {
	code := database.Main(m)
	program.Remove()
	os.Exit(code)
}

// Environment variables.
const (
	envRequests = "GLUEPOT_TEST_HTTP_REQUESTS" // how many requests to send
	envSeed     = "GLUEPOT_TEST_HTTP_SEED"     // the seed of the generator
	envScript   = "GLUEPOT_TEST_HTTP_SCRIPT"   // the index of the one connection to repeat
)

func number(t *testing.T, name string, fallback int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return fallback
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		t.Fatalf("%s: got %q, want a whole number", name, text)
	}
	return n
}

// connections is the number of connections that are open at once.
const connections = 12

// connectionsPerLoss is how many connections there must be for each one whose last answers the kernel dropped.
const connectionsPerLoss = 200

// maxMemory returns the limit of a server's peak memory. The race detector needs a multiple.
func maxMemory() int64 {
	if program.Raced {
		return 1 << 30
	}
	return 128 << 20
}

// maxGoroutines is the limit of an idle server.
const maxGoroutines = 50

// site is one server under test.
type site struct {
	*program.Process
	base        string
	trusting    bool // the fuzzer is a trusted proxy
	reference   *reference
	contract    *openapi.Contract // nil in tests without a program
	log         *logOracle
	etags       etags
	ownAnswers  atomic.Int64 // answers of the program
	refusals    atomic.Int64 // answers of net/http
	lost        atomic.Int64 // answers that a reset of the connection may have lost
	unavailable atomic.Int64 // 503s
}

func startSite(t *testing.T, cfg gormstore.Config, base string, trusting bool) *site {
	t.Helper()
	program.Fixture(t, cfg)
	contract, err := openapi.Shared()
	if err != nil {
		t.Fatal(err)
	}
	s := &site{base: base, trusting: trusting, reference: startReference(t, base), contract: contract}
	s.log = newLogOracle(s)
	settings := []string{
		"GLUEPOT_DATABASE_URL=" + cfg.URL, "GLUEPOT_HTTP_ADDR=127.0.0.1:0", "GLUEPOT_HTTP_DRAIN_DELAY=0s",
		"GLUEPOT_HTTP_BASE_PATH=" + base, "GLUEPOT_PAGES=false", // which the oracle does not know
		// Requests that never end time out soon. The log must be right at the debug level, too.
		"GLUEPOT_HTTP_READ_TIMEOUT=15s", "GLUEPOT_HTTP_IDLE_TIMEOUT=15s", "GLUEPOT_LOG_LEVEL=debug",
	}
	if trusting {
		settings = append(settings, "GLUEPOT_HTTP_TRUSTED_PROXIES=127.0.0.1")
	}
	s.Process = program.StartLogging(t, s.log, settings, "serve")
	t.Cleanup(s.log.close)
	select {
	case s.Address = <-s.log.address:
	case <-s.Exited:
		t.Fatal("got a program that exited at once, want it to serve")
	case <-time.After(program.Patience):
		t.Fatalf("got no address within %v, want the program to serve", program.Patience)
	}
	return s
}

func TestRawRequests(t *testing.T) {
	requests, seed := number(t, envRequests, 2500), uint64(number(t, envSeed, 1))
	t.Logf("seed %d", seed)
	sites := []*site{
		startSite(t, database.SQLite(t), "", false),
		startSite(t, database.Postgres(t), "/api/v2", true),
	}
	if index := number(t, envScript, -1); index >= 0 {
		s := generate(seed, index, sites)
		for _, c := range sites[s.site].check(s) {
			t.Errorf("%s: %s\n%s", c.class, c.detail, s)
		}
		return
	}
	results := findings{seed: seed, sites: sites, first: map[string]*finding{}}
	start := time.Now()
	sent := results.run(requests)
	elapsed := time.Since(start)
	for _, s := range sites {
		s.log.settle()
	}
	results.report(t)
	t.Logf("%d requests on %d connections in %v: %.0f a second; %d answered by the program, %d by net/http",
		sent, results.next.Load(), elapsed.Round(time.Millisecond), float64(sent)/elapsed.Seconds(), results.answers(true),
		results.answers(false))
	for i, s := range sites {
		if lost := s.lost.Load(); lost > 10+results.next.Load()/connectionsPerLoss {
			t.Errorf("base path %q: got lost answers on %d of %d connections, want at most %d", s.base, lost,
				results.next.Load(),
				10+results.next.Load()/connectionsPerLoss)
		}
		s.finish(t, i == 0)
	}
}

// finding is the first script that shows a defect, and the number of scripts that do.
type finding struct {
	script    *script
	complaint complaint
	times     int
}

type findings struct {
	seed  uint64
	sites []*site
	next  atomic.Int64 // index of a script
	sent  atomic.Int64 // requests

	mu    sync.Mutex
	first map[string]*finding
}

// answers returns the number of answers of the program, or of net/http.
func (f *findings) answers(own bool) (total int64) {
	for _, s := range f.sites {
		if own {
			total += s.ownAnswers.Load()
		} else {
			total += s.refusals.Load()
		}
	}
	return total
}

// hopeless is the number of kinds of defects after which the test stops.
const hopeless = 60

// run sends this many requests, or fewer if there are too many defects.
func (f *findings) run(requests int) int64 {
	var workers sync.WaitGroup
	for range connections {
		workers.Go(func() {
			for f.sent.Load() < int64(requests) {
				s := generate(f.seed, int(f.next.Add(1)-1), f.sites)
				f.sent.Add(int64(len(s.requests)))
				if f.add(s, f.sites[s.site].check(s)) >= hopeless {
					return
				}
			}
		})
	}
	workers.Wait()
	return f.sent.Load()
}

// add records complaints, and returns the number of kinds so far.
func (f *findings) add(s *script, v verdict) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range v {
		if f.first[c.class] == nil {
			f.first[c.class] = &finding{s, c, 0}
		}
		f.first[c.class].times++
	}
	return len(f.first)
}

// report prints each kind of defect with the smallest script that shows it.
func (f *findings) report(t *testing.T) {
	t.Helper()
	classes := make([]string, 0, len(f.first))
	for class := range f.first {
		classes = append(classes, class)
	}
	slices.Sort(classes)
	for _, class := range classes {
		defect := f.first[class]
		s, c := f.minimise(defect.script, defect.complaint)
		t.Errorf("%s (%d times; repeat with %s=%d %s=%d)\n%s\n%s", class, defect.times,
			envSeed, f.seed, envScript, defect.script.index, c.detail, s)
	}
}

// minimise removes requests and header lines as long as the complaint stays.
func (f *findings) minimise(s *script, c complaint) (*script, complaint) {
	tries := 300
	smaller := func(requests [][]byte) bool {
		if tries--; tries < 0 || len(requests) == 0 {
			return false
		}
		candidate := &script{index: s.index, site: s.site, requests: requests, delivery: pipelined}
		if len(s.twins) > 0 && len(requests) == 2 {
			candidate.twins = []int{0}
		}
		again, ok := f.sites[s.site].check(candidate).of(c.class)
		if ok {
			s, c = candidate, again
		}
		return ok
	}
	for i := len(s.requests) - 1; i >= 0 && len(s.requests) > 1; i-- {
		smaller(slices.Delete(slices.Clone(s.requests), i, i+1))
	}
	for i := range s.requests {
		lines := bytes.SplitAfter(s.requests[i], []byte("\r\n"))
		for j := len(lines) - 2; j > 0 && j < len(lines); j-- {
			if fewer := slices.Delete(slices.Clone(lines), j, j+1); smaller(withRequest(s.requests, i, bytes.Join(fewer, nil))) {
				lines = fewer
			}
		}
	}
	return s, c
}

// withRequest returns the requests with another one at index i.
func withRequest(requests [][]byte, i int, request []byte) [][]byte {
	requests = slices.Clone(requests)
	requests[i] = request
	return requests
}

// String describes a script for a person.
func (s *script) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "connection %d, %v", s.index, s.delivery)
	if len(s.cuts) > 0 {
		fmt.Fprintf(&b, " at %v", s.cuts)
	}
	for _, r := range s.requests {
		fmt.Fprintf(&b, "\n> %.3000q", r)
	}
	return b.String()
}

// finish checks the state of a server at the end, and stops it: with SIGTERM, or with a dump to count its goroutines.
func (s *site) finish(t *testing.T, cleanly bool) {
	t.Helper()
	for path, body := range map[string]string{"/readyz": `{"status":"ok"}`, s.base + "/user/epoxy": profiles["epoxy"],
		s.base + "/paste/nobodys1": anonymousPaste} {
		if status, got := s.Get(path, ""); status != http.StatusOK || got != body {
			t.Errorf("%s at the end: got %d %s, want 200 %s", path, status, got, body)
		}
	}
	peak, resident := s.memory(t)
	t.Logf("base path %q: %d MiB of peak memory, %d MiB at the end; %d lines of log, "+
		"%d dropped; %d answers of 503, %d cut off",
		s.base, peak>>20, resident>>20, s.log.lineCount(), s.log.drops(), s.unavailable.Load(), s.lost.Load())
	if peak > maxMemory() {
		t.Errorf("got %d MiB of memory, want at most %d", peak>>20, maxMemory()>>20)
	}
	s.log.report(t)
	http.DefaultClient.CloseIdleConnections() // the connection of Get
	program.Eventually(t, "the server closes all connections", func() bool { return s.Connections() == 0 })
	if !cleanly {
		goroutines := s.log.goroutines()
		t.Logf("%d goroutines at the end", goroutines)
		if goroutines == 0 || goroutines > maxGoroutines {
			t.Errorf("got %d goroutines, want 1 to %d", goroutines, maxGoroutines)
		}
		return
	}
	s.Signal(syscall.SIGTERM)
	if code := s.Wait(); code != 0 {
		t.Errorf("got exit code %d, want 0", code)
	}
}

// memory returns the peak and the current resident memory of the process, in bytes.
func (s *site) memory(t *testing.T) (peak, resident int64) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	value := func(name string) int64 {
		_, after, _ := strings.Cut(string(status), name+":")
		text, _, _ := strings.Cut(after, "kB")
		kib, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return kib << 10
	}
	return value("VmHWM"), value("VmRSS")
}
