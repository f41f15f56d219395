package commands

import (
	"net"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/tests/database"
)

// TestWrongConfiguration names every value at once that cannot be read or, when all can be read, that is wrong, and no password.
func TestWrongConfiguration(t *testing.T) {
	const url = "GLUEPOT_DATABASE_URL=mysql://root:hunter2@localhost/x"
	for _, c := range []struct{ settings, parts []string }{
		{
			[]string{
				url, "GLUEPOT_DATABASE_MAX_CONNECTIONS=many", "GLUEPOT_SWEEP_INTERVAL=soon", "GLUEPOT_PASTE_MAX_LIFETIME=3d",
				"GLUEPOT_HTTP_ADR=x",
			},
			[]string{"GLUEPOT_DATABASE_MAX_CONNECTIONS", "GLUEPOT_SWEEP_INTERVAL", "GLUEPOT_PASTE_MAX_LIFETIME", "GLUEPOT_HTTP_ADR"},
		},
		{
			[]string{
				url, "GLUEPOT_HTTP_ADDR=nowhere", "GLUEPOT_HTTP_BASE_PATH=api/v2/", "GLUEPOT_HTTP_REQUEST_TIMEOUT=-1s", "GLUEPOT_LOG_LEVEL=loud",
				"GLUEPOT_LOG_FORMAT=xml", "GLUEPOT_HTTP_TRUSTED_PROXIES=nobody", "GLUEPOT_CONTACT=javascript:x", "GLUEPOT_TERMS_URL=terms",
			},
			[]string{
				"database URL", "nowhere", "api/v2/", "request timeout", "loud", "xml", "nobody", "GLUEPOT_CONTACT", "GLUEPOT_TERMS_URL",
			},
		},
	} {
		got := runWith(t, c.settings, "serve")
		if got.code != exitUsage || got.stdout != "" {
			t.Errorf("got %+v, want exit code 2 and nothing on standard output", got)
		}
		for _, part := range c.parts {
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
