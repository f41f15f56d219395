package commands

import (
	"net"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/tests/database"
)

// TestWrongConfiguration names every wrong value at once, and no password.
func TestWrongConfiguration(t *testing.T) {
	for name, value := range map[string]string{
		"DATABASE_URL": "mysql://root:hunter2@localhost/x", "DATABASE_MAX_CONNECTIONS": "many", "HTTP_ADDR": "nowhere",
		"HTTP_BASE_PATH": "api/v2/", "HTTP_REQUEST_TIMEOUT": "-1s", "LOG_LEVEL": "loud", "LOG_FORMAT": "xml",
		"HTTP_TRUSTED_PROXIES": "nobody", "SWEEP_INTERVAL": "soon", "PASTE_MAX_LIFETIME": "3d", "CONTACT": "javascript:x", "TERMS_URL": "terms",
	} {
		t.Setenv("GLUEPOT_"+name, value)
	}
	got := run(t, "serve")
	if got.code != exitUsage || got.stdout != "" {
		t.Errorf("got %+v, want exit code 2 and nothing on standard output", got)
	}
	for _, part := range []string{
		"database URL", "GLUEPOT_DATABASE_MAX_CONNECTIONS", "nowhere", "api/v2/", "request timeout", "loud", "xml", "nobody",
		"GLUEPOT_SWEEP_INTERVAL", "GLUEPOT_PASTE_MAX_LIFETIME", "GLUEPOT_CONTACT", "GLUEPOT_TERMS_URL",
	} {
		if !strings.Contains(got.stderr, part) {
			t.Errorf("got\n%swant %q in it", got.stderr, part)
		}
	}
	for _, part := range []string{
		"connections is 0", "PASTE_DEFAULT_LIFETIME", // which nobody wrote
		"goroutine", "hunter2",
	} {
		if strings.Contains(got.stderr, part) {
			t.Errorf("got\n%swant %q not to be in it", got.stderr, part)
		}
	}
}

func TestListenFailure(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // nobody connects
	address := listener.Addr().String()
	got := run(t, "serve", "--database-url="+string(database.SQLite(t).URL), "--http-addr="+address)
	wantRefusal(t, "serve", got, exitFailed,
		"Cannot listen on "+address+". Choose another address with --http-addr or GLUEPOT_HTTP_ADDR. (address already in use)")
}

func TestDatabaseDownAtStart(t *testing.T) {
	t.Parallel()
	got := run(t, "serve", "--database-url=postgres://gluepot:hunter2@127.0.0.1:1/gluepot", "--http-addr=127.0.0.1:0")
	wantRefusalWith(t, "serve", got, exitFailed, "connection refused")
	if strings.Contains(got.stderr, "hunter2") {
		t.Errorf("got %q, want no password in it", got.stderr)
	}
}
