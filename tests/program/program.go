// Package program runs the real program for tests that talk to it over TCP.
package program

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gluepot/gluepot/tests/openapi"
)

// Patience is how long a test waits for anything, even on a busy machine.
const Patience = time.Minute

// envProgram names a binary to test instead of one built from this tree, such as that of another version.
const envProgram = "GLUEPOT_TEST_PROGRAM"

// The program is built as the Makefile builds it, and with the race detector if the tests have it.
var (
	normal = sync.OnceValues(func() (string, error) { return build(false) })
	raced  = sync.OnceValues(func() (string, error) { return build(true) })
)

// raceFlags are RACE in the Makefile, so that both share the compiled packages.
var raceFlags = []string{"-race", "-gcflags=modernc.org/sqlite/lib=-race=false",
	"-gcflags=modernc.org/libc/...=-race=false"}

// builds holds the folders of the binaries.
var builds struct {
	sync.Mutex
	folders []string
}

func build(race bool) (string, error) {
	if path := os.Getenv(envProgram); path != "" {
		return path, nil
	}
	folder, err := os.MkdirTemp("", "gluepot-e2e-")
	if err != nil {
		return "", err
	}
	builds.Lock()
	builds.folders = append(builds.folders, folder)
	builds.Unlock()
	path := filepath.Join(folder, "gluepot")
	args, cgo := []string{"build", "-trimpath", "-tags=nomsgpack", "-ldflags=-s -w", "-o", path}, "0"
	if race {
		args, cgo = append(args, raceFlags...), "1"
	}
	build := exec.Command("go", append(args, "github.com/gluepot/gluepot/bootstrap/cmd/gluepot")...)
	build.Env = append(os.Environ(), "CGO_ENABLED="+cgo)
	if out, err := build.CombinedOutput(); err != nil {
		return "", errors.New(string(out))
	}
	return path, nil
}

// Remove deletes the binaries. Call it at the end of TestMain.
func Remove() {
	builds.Lock()
	defer builds.Unlock()
	for _, folder := range builds.folders {
		_ = os.RemoveAll(folder)
	}
}

// raceOptions are for the race detector in the program. Without atexit_sleep_ms, each process would sleep for a second
// before it exits.
const raceOptions = "GORACE=halt_on_error=1 atexit_sleep_ms=20"

// environment returns the variables of the program as NAME=VALUE: settings, and of the tests' own environment only what
// the operating system needs.
func environment(settings ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), raceOptions}, settings...)
}

// Output collects the output of a process.
type Output struct {
	reading sync.Mutex // held by Hold
	mu      sync.Mutex
	bytes   bytes.Buffer
	broken  chan struct{}
}

// Break closes the pipe at the next write of the process, and then the channel that it returns.
func (o *Output) Break() <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.broken = make(chan struct{})
	return o.broken
}

// Hold stops reading the output, so that the pipe fills, until release is called or the test ends.
func (o *Output) Hold(t *testing.T) (release func()) {
	t.Helper()
	o.reading.Lock()
	release = sync.OnceFunc(o.reading.Unlock)
	t.Cleanup(release)
	return release
}

// Write implements io.Writer.
func (o *Output) Write(p []byte) (int, error) {
	o.reading.Lock()
	defer o.reading.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.broken != nil {
		close(o.broken)
		return 0, io.ErrClosedPipe // makes os/exec close the pipe
	}
	return o.bytes.Write(p)
}

// String returns the output so far.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.bytes.String()
}

// tail returns the end of the output, and earlier errors.
func (o *Output) tail() string {
	const limit = 16 << 10 // bytes
	text := o.String()
	if len(text) <= limit {
		return text
	}
	var errors strings.Builder
	for line := range strings.Lines(text[:len(text)-limit]) {
		if strings.Contains(line, `"level":"error"`) && errors.Len() < limit {
			errors.WriteString(line)
		}
	}
	return errors.String() + "..." + text[len(text)-limit:]
}

// Process is a running program.
type Process struct {
	t              *testing.T
	Cmd            *exec.Cmd
	Stdout, Stderr Output
	Exited         chan struct{} // closed when it has exited
	Address        string        // of a server
	basePath       string
}

// Binary returns the path of the program.
func Binary(t *testing.T) string {
	t.Helper()
	binary := normal
	if Raced {
		binary = raced
	}
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Start starts the program and does not wait for it.
func Start(t *testing.T, settings []string, args ...string) *Process {
	t.Helper()
	return start(t, Binary(t), nil, nil, settings, args)
}

// StartLogging is like Start, but standard error, which has the log, goes to log instead of Stderr. The program writes
// to a file directly.
func StartLogging(t *testing.T, log io.Writer, settings []string, args ...string) *Process {
	t.Helper()
	return start(t, Binary(t), nil, log, settings, args)
}

// StartReading is like Start, with a standard input.
func StartReading(t *testing.T, stdin *os.File, settings []string, args ...string) *Process {
	t.Helper()
	return start(t, Binary(t), stdin, nil, settings, args)
}

// StartShipped is like Start, but never with the race detector, which takes several times the memory.
func StartShipped(t *testing.T, settings []string, args ...string) *Process {
	t.Helper()
	path, err := normal()
	if err != nil {
		t.Fatal(err)
	}
	return start(t, path, nil, nil, settings, args)
}

func start(t *testing.T, path string, stdin *os.File, log io.Writer, settings, args []string) *Process {
	t.Helper()
	p := &Process{t: t, Cmd: exec.Command(path, args...), Exited: make(chan struct{})}
	p.Cmd.Env, p.Cmd.Dir = environment(settings...), t.TempDir()
	for _, setting := range settings {
		if path, ok := strings.CutPrefix(setting, "GLUEPOT_HTTP_BASE_PATH="); ok {
			p.basePath = path
		}
	}
	p.Cmd.Stdout, p.Cmd.Stderr = &p.Stdout, &p.Stderr
	if log != nil {
		p.Cmd.Stderr = log
	}
	p.Cmd.Stdin = strings.NewReader("text\n") // for pastes, which cannot be empty
	if stdin != nil {
		p.Cmd.Stdin = stdin
	}
	if err := p.Cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.Cmd.Wait()
		close(p.Exited)
	}()
	t.Cleanup(func() {
		_ = p.Cmd.Process.Kill()
		<-p.Exited
		if t.Failed() && p.Stdout.String()+p.Stderr.String() != "" {
			t.Logf("standard output:\n%s\nstandard error:\n%s", p.Stdout.tail(), p.Stderr.tail())
		}
	})
	return p
}

// Run runs the program to its end, without the race detector, which takes longer to start than most commands last.
// tests/commands runs the commands with it.
func Run(t *testing.T, settings []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	p := StartShipped(t, settings, args...)
	code = p.Wait()
	return code, p.Stdout.String(), p.Stderr.String()
}

// Wait waits for the program to exit, and returns the exit code.
func (p *Process) Wait() int {
	p.t.Helper()
	select {
	case <-p.Exited:
		return p.Cmd.ProcessState.ExitCode()
	case <-time.After(Patience):
		p.t.Fatalf("got a program that still runs after %v, want it to exit", Patience)
		return 0
	}
}

// ShippedTimeouts makes Serve use the default timeouts for the database. Set it in TestMain.
var ShippedTimeouts bool

// Serve starts a server on a free port and waits until it serves. Timeouts for the database are longer than by default.
func Serve(t *testing.T, databaseURL string, settings ...string) *Process {
	t.Helper()
	defaults := []string{"GLUEPOT_DATABASE_URL=" + databaseURL, "GLUEPOT_HTTP_ADDR=127.0.0.1:0",
		"GLUEPOT_HTTP_DRAIN_DELAY=0s"}
	if !ShippedTimeouts { // on a busy machine the database is slow
		defaults = append(defaults, "GLUEPOT_HTTP_REQUEST_TIMEOUT=25s", "GLUEPOT_DATABASE_CONNECT_TIMEOUT=20s")
	}
	p := Start(t, append(defaults, settings...), "serve")
	p.WaitForAddress()
	return p
}

// WaitForAddress waits until the server logs its address.
func (p *Process) WaitForAddress() {
	p.t.Helper()
	line := p.WaitForLog("serving")
	p.Address, _ = line["address"].(string)
}

// WaitForLog waits for a line of the log with this message, and returns the first.
func (p *Process) WaitForLog(message string) map[string]any {
	p.t.Helper()
	offset := 0 // bytes that were parsed already: a log may be long
	for deadline := time.Now().Add(Patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		exited := false
		select {
		case <-p.Exited: // read the log once more
			exited = true
		default:
		}
		text := p.Stderr.String()
		end := strings.LastIndexByte(text, '\n') + 1
		for _, line := range parseLog(text[offset:end]) {
			if line["msg"] == message {
				return line
			}
		}
		if offset = end; exited {
			p.t.Fatalf("the program exited: got the log %s, want a line %q in it", text, message)
		}
	}
	p.t.Fatalf("got no line %q in the log within %v, want one", message, Patience)
	return nil
}

// Log returns the lines of the log so far.
func (p *Process) Log() []map[string]any { return parseLog(p.Stderr.String()) }

// parseLog returns the lines that are JSON, and skips others.
func parseLog(text string) []map[string]any {
	var lines []map[string]any
	for text := range strings.Lines(text) {
		var line map[string]any
		if json.Unmarshal([]byte(text), &line) == nil {
			lines = append(lines, line)
		}
	}
	return lines
}

// Signal sends the process a signal.
func (p *Process) Signal(s os.Signal) {
	p.t.Helper()
	if err := p.Cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// Client returns a client of the server. The test fails on an answer that the OpenAPI document does not allow.
func (p *Process) Client() *http.Client {
	return &http.Client{Timeout: Patience, Transport: &openapi.Transport{Check: p.Check}}
}

// Check fails the test if the OpenAPI document does not allow an answer of the server.
func (p *Process) Check(answer openapi.Answer) {
	p.t.Helper()
	if os.Getenv(envProgram) != "" { // its document may differ
		return
	}
	contract, err := openapi.Shared()
	if err == nil {
		err = contract.Check(p.basePath, answer)
	}
	if err != nil {
		p.t.Error(err)
	}
}

// Get returns the status and the body of an answer.
func (p *Process) Get(path, token string) (int, string) {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, "http://"+p.Address+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", token)
	}
	response, err := p.Client().Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	body, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

// Eventually waits for a condition.
func Eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(Patience); !condition(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("got no change within %v, want: %s", Patience, what)
		}
	}
}

// Connections returns how many connections of clients a server has open. The kernel may have more, which it is closing.
func (p *Process) Connections() int {
	p.t.Helper()
	table, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/tcp", p.Cmd.Process.Pid))
	if err != nil {
		p.t.Fatal(err)
	}
	_, port, _ := strings.Cut(p.Address, ":")
	number, err := strconv.Atoi(port)
	if err != nil {
		p.t.Fatal(err)
	}
	const (
		local, state, inode = 1, 3, 9 // columns
		listening           = "0A"
		loopback            = "0100007F" // 127.0.0.1; a client at another address may have the same port
	)
	open := 0
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line)
		if fields[local] == fmt.Sprintf("%s:%04X", loopback, number) && fields[state] != listening && fields[inode] != "0" {
			open++
		}
	}
	return open
}
