package browser

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/gluepot/gluepot/tests/program"
)

// demonstration is a server with demonstration data that tests share. A test changes only what it created there.
var demonstration struct {
	sync.Mutex
	origin string
	stop   func()
}

// serveDemonstration returns the origin of the shared server. The first call starts it, and stopDemonstration stops it.
func serveDemonstration(t *testing.T) (origin string) {
	t.Helper()
	demonstration.Lock()
	defer demonstration.Unlock()
	if demonstration.stop != nil {
		return demonstration.origin
	}
	folder, err := os.MkdirTemp("", "gluepot-browser-")
	if err != nil {
		t.Fatal(err)
	}
	server := exec.Command(program.Binary(t), "serve", "--demo")
	server.Env = []string{
		"TMPDIR=" + folder, "GLUEPOT_DATABASE_URL=sqlite://" + filepath.Join(folder, "demo.db"),
		"GLUEPOT_HTTP_ADDR=127.0.0.1:0", "GLUEPOT_HTTP_DRAIN_DELAY=0s",
	}
	log, err := server.StderrPipe()
	if err == nil {
		err = server.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	demonstration.stop = func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
		_ = os.RemoveAll(folder)
	}
	lines := bufio.NewScanner(log)
	for demonstration.origin == "" && lines.Scan() {
		var line struct{ Msg, Address string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "serving" {
			demonstration.origin = "http://" + line.Address
		}
	}
	if demonstration.origin == "" {
		t.Fatalf(`got no line "serving" in the log of the program, error %v, want one`, lines.Err())
	}
	go io.Copy(io.Discard, log) //nolint:errcheck // keeps the pipe from filling up, and ends with the program
	return demonstration.origin
}

// stopDemonstration stops the shared server after all tests.
func stopDemonstration() {
	demonstration.Lock()
	defer demonstration.Unlock()
	if demonstration.stop != nil {
		demonstration.stop()
	}
}
