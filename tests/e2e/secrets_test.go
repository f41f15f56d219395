package e2e

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// TestPasswordsAreNotPrinted starts the program with a password in places where it belongs, and in others.
func TestPasswordsAreNotPrinted(t *testing.T) {
	t.Parallel()
	const password = "hunter2"
	sqlite := "GLUEPOT_DATABASE_URL=" + string(database.SQLite(t).URL)
	wantSilence := func(settings []string, args ...string) {
		t.Helper()
		code, stdout, stderr := program.Run(t, settings, args...)
		if strings.Contains(stdout+stderr, password) || code == 0 || stderr == "" {
			t.Errorf("%v %v: exit code %d, %q, %q", settings, args, code, stdout, stderr)
		}
	}
	for _, text := range []string{ // where nobody answers, or nobody can be asked
		"postgres://u:hunter2@127.0.0.1:1/d",
		"postgres://u:s3@hunter2@127.0.0.1:1/d",
		"postgres://u:1/hunter2@127.0.0.1:1/d",
		"postgres://u:hunter2/d@127.0.0.1:1/d",
		"postgres://u%3Ahunter2@127.0.0.1:1/d",
		"postgres://u:hunter2%zz@127.0.0.1:1/d",
		"postgres://127.0.0.1:1/d?user=u&password=s3;hunter2",
		"postgres://127.0.0.1:1/d?user=u&sslpassword=hunter2",
		"postgres://u:hunter2@127.0.0.1:1,127.0.0.1:2/d?connect_timeout=x",
		"host=127.0.0.1 port=1 user=u password=hunter2",
	} {
		wantSilence([]string{"GLUEPOT_DATABASE_URL=" + text}, "serve")
		wantSilence(nil, "migrate", "up", "--database-url", text)
		wantSilence([]string{"GLUEPOT_DATABASE_URL=postgres://u@127.0.0.1:1/d", "GLUEPOT_DATABASE_REPLICA_URLS=" + text}, "stats")
	}
	for _, text := range []string{"postgres://u:hunter2@127.0.0.1:1/d", "host=127.0.0.1 password=hunter2"} { // in the wrong place
		wantSilence(nil, text)
		wantSilence(nil, "serve", text)
		wantSilence(nil, "serve", "-database-url="+text)
		wantSilence(nil, "serve", "--="+text)
		wantSilence(nil, "serve", "--database-max-connections", text)
		wantSilence([]string{"GLUEPOT_DATABASE_MAX_CONNECTIONS=" + text}, "serve")
		for _, name := range []string{"http-addr", "http-base-path", "http-trusted-proxies", "log-level", "log-format"} {
			wantSilence([]string{sqlite}, "serve", "--"+name, text)
			wantSilence([]string{sqlite, "GLUEPOT_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_")) + "=" + text}, "serve")
		}
		wantSilence([]string{sqlite}, "import", "pastemyst", "--users", text)
		_, stdout, stderr := program.Run(t, []string{"GLUEPOT_DATABASE_URL=" + text}, "serve", "--help", "--database-url", text)
		if strings.Contains(stdout+stderr, password) {
			t.Errorf("help: %s%s", stdout, stderr)
		}
	}
}

// TestPasswordsAreNotLogged serves with a password among the options.
func TestPasswordsAreNotLogged(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	parsed, err := url.Parse(string(cfg.URL))
	if err != nil {
		t.Fatal(err)
	}
	if parsed.RawQuery != "" {
		parsed.RawQuery += "&"
	}
	parsed.RawQuery += "sslpassword=s3;hunter2"
	cfg.URL = gormstore.URL(parsed.String())
	server := program.Serve(t, string(cfg.URL))
	wantStatus(t, server, "/readyz", http.StatusOK)
	if line := server.WaitForLog("serving"); line["database"] != cfg.URL.String() || strings.Contains(server.Stderr.String(), "hunter2") {
		t.Error(line)
	}
}
