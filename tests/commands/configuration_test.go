package commands

import (
	"net"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/tests/database"
)

// TestWrongConfiguration checks that one error names every value that cannot be read or is wrong, and no password.
func TestWrongConfiguration(t *testing.T) {
	const url = "GLUEPOT_DATABASE_URL=mysql://root:hunter2@localhost/x"
	settings := []string{
		url, "GLUEPOT_DATABASE_MAX_CONNECTIONS=many", "GLUEPOT_SWEEP_INTERVAL=soon", "GLUEPOT_PASTE_MAX_LIFETIME=3d",
		"GLUEPOT_HTTP_ADR=x",
		"GLUEPOT_HTTP_ADDR=nowhere", "GLUEPOT_HTTP_BASE_PATH=api/v2/", "GLUEPOT_HTTP_REQUEST_TIMEOUT=-1s",
		"GLUEPOT_LOG_LEVEL=loud",
		"GLUEPOT_LOG_FORMAT=xml", "GLUEPOT_HTTP_TRUSTED_PROXIES=nowhere", "GLUEPOT_CONTACT=javascript:x",
		"GLUEPOT_TERMS_URL=terms",
	}
	for _, command := range []string{"serve", "config"} {
		got := runWith(t, settings, command)
		if got.code != exitUsage || got.stdout != "" || strings.Count(got.stderr, "\n") != len(settings) {
			t.Errorf("%s: got %+v, want exit code 2, one line for each mistake and nothing on standard output", command, got)
		}
		for _, setting := range settings {
			if name, _, _ := strings.Cut(setting, "="); !strings.Contains(got.stderr, name) {
				t.Errorf("%s: got\n%swant %s in it", command, got.stderr, name)
			}
		}
		for _, part := range []string{
			"CONNECTIONS is 0", "PASTE_DEFAULT_LIFETIME", // which were not set
			"goroutine", "hunter2",
		} {
			if strings.Contains(got.stderr, part) {
				t.Errorf("%s: got\n%swant %q not to be in it", command, got.stderr, part)
			}
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
	got := run(t, "serve", "--database-url="+database.SQLite(t).URL, "--http-addr="+address)
	wantRefusal(t, "serve", got, exitFailed,
		"Cannot listen on "+address+
			". Choose another address with --http-addr or GLUEPOT_HTTP_ADDR. (address already in use)")
}

func TestDatabaseDownAtStart(t *testing.T) {
	t.Parallel()
	got := run(t, "serve", "--database-url=postgres://gluepot:hunter2@127.0.0.1:1/gluepot", "--http-addr=127.0.0.1:0")
	wantRefusalWith(t, "serve", got, exitFailed, "connection refused")
	if strings.Contains(got.stderr, "hunter2") {
		t.Errorf("got %q, want no password in it", got.stderr)
	}
}
