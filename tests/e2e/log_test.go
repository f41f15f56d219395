package e2e

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/openapi"
	"github.com/gluepot/gluepot/tests/program"
)

// pipeline sends the same request repeatedly over one connection, without waiting for the answers in between. It checks
// only the first answer against the OpenAPI document: checking takes longer than serving.
func pipeline(t *testing.T, server *program.Process, path string, times int) {
	t.Helper()
	connection, err := net.DialTimeout("tcp", server.Address, program.Patience)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close() //nolint:errcheck // it has been read
	_ = connection.SetDeadline(time.Now().Add(program.Patience))
	go func() { // if this fails, an answer is missing
		_, _ = io.WriteString(connection, strings.Repeat("GET "+path+" HTTP/1.1\r\nHost: gluepot.test\r\n\r\n", times))
	}()
	answers := bufio.NewReader(connection)
	for n := range times {
		response, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatalf("request %d: got %v, want an answer", n, err)
		}
		body, err := io.ReadAll(response.Body)
		if n == 0 {
			server.Check(openapi.Answer{Method: http.MethodGet, Target: path, Status: response.StatusCode,
				Header: response.Header, Body: body})
		}
		if _ = response.Body.Close(); err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("request %d: got %s, error %v, want 200", n, response.Status, err)
		}
	}
}

// muchLog is a number of requests whose lines of the log, of more than 200 bytes each, do not fit into the pipe and the
// server's buffer.
const muchLog = 7_000

// TestUnreadLog serves while nobody reads the log. Then the log must say how many lines are missing, and have all
// others.
func TestUnreadLog(t *testing.T) {
	t.Parallel()
	server := program.Serve(t, database.SQLite(t).URL)
	release := server.Stderr.Hold(t)
	pipeline(t, server, "/data/language?name=go", muchLog)
	wantStatus(t, server, "/readyz", http.StatusOK)
	wantStatus(t, server, "/data/numPastes", http.StatusOK)
	release()
	server.WaitForLog("lines of the log were dropped: no reader took them")
	pipeline(t, server, "/data/languageExt?extension=go", 1)
	server.Signal(syscall.SIGTERM)
	if code := server.Wait(); code != 0 {
		t.Errorf("got exit code %d, want 0", code)
	}
	server.WaitForLog("stopped")
	lines, dropped, last := 0, 0, ""
	for _, line := range server.Log() {
		if n, ok := line["dropped"].(float64); ok {
			dropped += int(n)
		}
		if line["msg"] == "request" {
			lines++
			last, _ = line["route"].(string)
		}
	}
	if want := muchLog + 2; lines+dropped != want || last != "/data/languageExt" {
		t.Errorf("got %d requests in the log and %d dropped, want %d in all; got the last for %s, want /data/languageExt",
			lines, dropped, want, last)
	}
}

// TestStoppingWithUnreadLog checks that a server stops although nobody reads the log.
func TestStoppingWithUnreadLog(t *testing.T) {
	t.Parallel()
	server := program.Serve(t, database.SQLite(t).URL)
	release := server.Stderr.Hold(t)
	pipeline(t, server, "/data/language?name=go", muchLog)
	server.Signal(syscall.SIGTERM)
	program.Eventually(t, "the program ends", func() bool {
		return errors.Is(server.Cmd.Process.Signal(syscall.Signal(0)), os.ErrProcessDone)
	})
	release()
	if code := server.Wait(); code != 0 {
		t.Errorf("got exit code %d, want 0", code)
	}
}

// TestClosedLog checks that a server keeps serving after the reader of its log has gone.
func TestClosedLog(t *testing.T) {
	t.Parallel()
	server := program.Serve(t, database.SQLite(t).URL)
	broken := server.Stderr.Break()
	pipeline(t, server, "/data/language?name=go", 1)
	select {
	case <-broken:
	case <-time.After(program.Patience):
		t.Fatal("got nothing in the log, want a line")
	}
	pipeline(t, server, "/data/language?name=go", 1)
	server.Signal(syscall.SIGTERM)
	if code := server.Wait(); code != 0 {
		t.Errorf("got exit code %d, want 0", code)
	}
}
