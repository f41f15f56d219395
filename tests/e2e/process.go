// Package e2e runs the real program on real databases and talks to it over TCP.
package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long anything may take that a test waits for.
const patience = 20 * time.Second

// binary builds the program once, with the race detector if the tests have it.
var binary = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "gluepot-e2e-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "gluepot")
	args := []string{"build", "-o", path}
	if raceEnabled {
		args = append(args, "-race")
	}
	build := exec.Command("go", append(args, "github.com/gluepot/gluepot/bootstrap/cmd/gluepot")...)
	if out, err := build.CombinedOutput(); err != nil {
		return "", errors.New(string(out))
	}
	return path, nil
})

// removeBinary is for the end of TestMain.
func removeBinary() {
	if path, err := binary(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path))
	}
}

// environment is a list of NAME=VALUE; nothing else of the tests' own environment reaches the program
// but what the operating system needs.
func environment(settings ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "GORACE=halt_on_error=1"}, settings...)
}

// output collects what a process writes.
type output struct {
	mu    sync.Mutex
	bytes bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.bytes.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.bytes.String()
}

// process is a running program.
type process struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdout, stderr output
	exited         chan struct{}
	address        string // of a server
}

// start starts the program and does not wait.
func start(t *testing.T, settings []string, args ...string) *process {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: exec.Command(path, args...), exited: make(chan struct{})}
	p.cmd.Env, p.cmd.Dir = environment(settings...), t.TempDir()
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.exited)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.exited
		if t.Failed() {
			t.Logf("standard output:\n%s\nstandard error:\n%s", &p.stdout, &p.stderr)
		}
	})
	return p
}

// run runs the program to its end.
func run(t *testing.T, settings []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	p := start(t, settings, args...)
	code = p.wait()
	return code, p.stdout.String(), p.stderr.String()
}

// wait returns the exit code.
func (p *process) wait() int {
	p.t.Helper()
	select {
	case <-p.exited:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		p.t.Fatal("the program did not end")
		return 0
	}
}

// serve starts a server on a free port and waits until it serves.
func serve(t *testing.T, databaseURL string, settings ...string) *process {
	t.Helper()
	settings = append([]string{"GLUEPOT_DATABASE_URL=" + databaseURL, "GLUEPOT_HTTP_ADDR=127.0.0.1:0", "GLUEPOT_HTTP_DRAIN_DELAY=0s"}, settings...)
	p := start(t, settings, "serve")
	p.waitForAddress()
	return p
}

func (p *process) waitForAddress() {
	p.t.Helper()
	line := p.waitForLog("serving")
	p.address, _ = line["address"].(string)
}

// waitForLog returns the first line of the log with that message.
func (p *process) waitForLog(message string) map[string]any {
	p.t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		for _, line := range p.log() {
			if line["msg"] == message {
				return line
			}
		}
		select {
		case <-p.exited:
			p.t.Fatalf("the program ended: %s", &p.stderr)
		default:
		}
	}
	p.t.Fatalf("no line %q in the log", message)
	return nil
}

// log returns the lines of the log so far.
func (p *process) log() []map[string]any {
	var lines []map[string]any
	scanner := bufio.NewScanner(strings.NewReader(p.stderr.String()))
	for scanner.Scan() {
		var line map[string]any
		if json.Unmarshal(scanner.Bytes(), &line) == nil {
			lines = append(lines, line)
		}
	}
	return lines
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// get returns the status and the body of an answer.
func (p *process) get(path, token string) (int, string) {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, "http://"+p.address+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", token)
	}
	response, err := (&http.Client{Timeout: patience}).Do(request)
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

// eventually waits for a condition.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not in time: %s", what)
		}
	}
}
