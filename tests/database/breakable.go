package database

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
)

// Breakable is a PostgreSQL server for one test, which may kill, freeze and start it again.
type Breakable struct {
	Config  gormstore.Config // a migrated, empty database
	local   *local
	options []string
	stop    func()
}

// safeEnough are options of a server that survives a crash of its processes, but not of the machine.
var safeEnough = []string{"-c", "fsync=off", "-c", "full_page_writes=off"}

// StartBreakable starts a server for the test with these options, such as "-c", "max_connections=20". It needs
// PostgreSQL's binaries on the machine, however other tests get their server.
func StartBreakable(t *testing.T, options ...string) *Breakable {
	t.Helper()
	RequireBinaries(t)
	b := &Breakable{Config: gormstore.DefaultConfig(), options: append(options, safeEnough...)}
	var err error
	if b.local, err = initLocal(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			log := b.Log()
			t.Logf("the log of PostgreSQL:\n%s", log[max(0, len(log)-8<<10):])
		}
		if b.stop != nil {
			b.Thaw(t)
			b.stop()
		}
		_ = os.RemoveAll(b.local.folder) // if the server did not run
	})
	b.Start(t)
	if err := migrate(b.Config); err != nil {
		t.Fatal(err)
	}
	return b
}

// RequireBinaries fails the test if the machine does not have PostgreSQL's binaries.
func RequireBinaries(t *testing.T) {
	t.Helper()
	if _, err := findBinaries(); err != nil {
		t.Fatalf("this test needs PostgreSQL's server binaries on this machine (Debian: apt-get install postgresql): %v", err)
	}
}

// Start starts the server again, at the same address, after Kill.
func (b *Breakable) Start(t *testing.T) {
	t.Helper()
	b.local.keep = true
	// The shared memory of a killed server goes with the last of its processes. Until then it does not start again.
	var failure error
	for range startAttempts {
		server, stop, err := b.local.start(t.Context(), b.options)
		if err == nil {
			b.stop, b.Config.URL = stop, server.String()
			return
		}
		failure = err
	}
	t.Fatal(failure)
}

const startAttempts = 3

// Kill ends the server and all its processes at once, as kill -9 does.
func (b *Breakable) Kill(t *testing.T) {
	t.Helper()
	b.signal(t, syscall.SIGKILL)
	b.local.abandon()
	b.stop = nil
}

// Freeze stops all processes of the server until Thaw: connections stay open, but nothing answers.
func (b *Breakable) Freeze(t *testing.T) {
	t.Helper()
	b.signal(t, syscall.SIGSTOP)
}

// Thaw ends Freeze.
func (b *Breakable) Thaw(t *testing.T) {
	t.Helper()
	b.signal(t, syscall.SIGCONT)
}

// Log returns the server's log.
func (b *Breakable) Log() string {
	log, err := os.ReadFile(filepath.Join(b.local.folder, "log"))
	if err != nil {
		return err.Error()
	}
	return string(log)
}

// signal sends a signal to all of the server's processes.
func (b *Breakable) signal(t *testing.T, signal syscall.Signal) {
	t.Helper()
	if err := SignalServer(b.local.data(), signal); err != nil {
		t.Fatal(err)
	}
}

// SignalServer sends a signal to all processes of the server that runs on the data in a folder: first to the
// postmaster, so that it starts no more processes, and then to its children.
func SignalServer(data string, signal syscall.Signal) error {
	content, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		return err
	}
	line, _, _ := strings.Cut(string(content), "\n")
	postmaster, err := strconv.Atoi(line)
	if err != nil {
		return fmt.Errorf("postmaster.pid: got %q, want a process id on the first line", content)
	}
	first := signal
	if signal == syscall.SIGKILL { // once it has ended, its children could not be told apart
		first = syscall.SIGSTOP
	}
	if err := syscall.Kill(postmaster, first); err != nil {
		return err
	}
	all := append(childrenOf(postmaster), postmaster)
	for _, process := range all {
		_ = syscall.Kill(process, signal) // it may have ended by itself
	}
	// A server does not start while a process of the previous one runs.
	for deadline := time.Now().Add(time.Minute); signal == syscall.SIGKILL && slices.ContainsFunc(all, runs); {
		if time.Now().After(deadline) {
			return fmt.Errorf("processes of %d still run after SIGKILL", postmaster)
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

// runs reports whether a process runs, and is not a zombie.
func runs(pid int) bool {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(content), ") ")
	return !strings.HasPrefix(state, "Z") && !strings.HasPrefix(state, "X")
}

// childrenOf returns the processes with this parent.
func childrenOf(parent int) []int {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well-formed
	var children []int
	for _, path := range stats {
		content, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// pid (name, which may hold anything) state ppid ...
		fields := strings.Fields(string(content[strings.LastIndexByte(string(content), ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			children = append(children, pid)
		}
	}
	return children
}
