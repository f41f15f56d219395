package e2e

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// socketClient returns a client of the server at a Unix socket.
func socketClient(path string) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		},
	}}
}

// TestUnixSocket serves on a socket for a proxy, whose headers the server trusts.
func TestUnixSocket(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "http.sock")
	settings := []string{
		"GLUEPOT_DATABASE_URL=" + database.SQLite(t).URL, "GLUEPOT_HTTP_ADDR=unix:" + path, "GLUEPOT_HTTP_DRAIN_DELAY=0s",
		"GLUEPOT_LIMIT_ANONYMOUS_PASTES=1", "GLUEPOT_HTTP_MAX_CLIENT_CONNECTIONS=1",
	}
	serve := func() *program.Process {
		t.Helper()
		server := program.Start(t, settings, "serve")
		if line := server.WaitForLog("serving"); line["address"] != path {
			t.Fatalf("got %v, want the address %s", line, path)
		}
		return server
	}
	server := serve()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o660 {
		t.Errorf("got the mode %v, error %v, want access for the owner and the group only", info.Mode(), err)
	}
	client := socketClient(path)
	create := func(from string) (status int, location string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://proxy/raw",
			strings.NewReader("code"))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-Forwarded-For", from)
		request.Header.Set("X-Forwarded-Proto", "https")
		request.Header.Set("X-Forwarded-Host", "paste.example")
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close() //nolint:errcheck // it was only read
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(body)
	}
	for _, step := range []struct {
		from   string
		status int
	}{{"192.0.2.1", 200}, {"192.0.2.2", 200}, {"192.0.2.1", 429}} {
		status, link := create(step.from)
		if status != step.status || status == 200 && !strings.HasPrefix(link, "https://paste.example/") {
			t.Errorf("%s: got %d %s, want %d and a link to the proxy's address", step.from, status, link, step.status)
		}
	}

	if code, stdout, stderr := program.Run(t, settings, "health"); code != 0 ||
		stdout != "The server at unix:"+path+" is ready.\n" {
		t.Errorf("health: got exit code %d, %q, %q, want 0 and ready", code, stdout, stderr)
	}
	if code, _, stderr := program.Run(t, settings, "serve"); code != 1 ||
		!strings.Contains(stderr, "Cannot listen on unix:"+path) {
		t.Errorf("a second server: got exit code %d, %q, want 1 and the address", code, stderr)
	}
	if status, _ := create("192.0.2.3"); status != http.StatusOK {
		t.Errorf("got %d from the first server after that, want 200", status)
	}

	server.Signal(syscall.SIGKILL)
	server.Wait()
	server = serve() // on the socket that the first one left
	server.Signal(syscall.SIGTERM)
	if code := server.Wait(); code != 0 {
		t.Errorf("got exit code %d, want 0", code)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("got %v, want the socket removed", err)
	}

	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, _ := program.Run(t, settings, "serve"); code != 1 {
		t.Errorf("got exit code %d with another file at the path, want 1", code)
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != "precious" {
		t.Errorf("got %q, error %v, want the file unchanged", content, err)
	}
}
