package commands

import (
	"strings"
	"testing"

	"github.com/gluepot/gluepot/tests/database"
)

// TestPasswordsAreNotPrinted starts the program with a password where it belongs, and in other places.
func TestPasswordsAreNotPrinted(t *testing.T) {
	const password = "hunter2"
	sqlite := "GLUEPOT_DATABASE_URL=" + database.SQLite(t).URL
	wantSilence := func(settings []string, args ...string) {
		t.Helper()
		got := runWith(t, settings, args...)
		if strings.Contains(got.stdout+got.stderr, password) || got.code == exitOK || got.stderr == "" {
			t.Errorf("%v %v: got %+v, want a failure that says why, without the password", settings, args, got)
		}
	}
	for _, text := range []string{ // of servers that do not answer or cannot be asked
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
		wantSilence([]string{"GLUEPOT_DATABASE_URL=postgres://u@127.0.0.1:1/d", "GLUEPOT_DATABASE_READ_URL=" + text}, "stats")
	}
	// in the wrong place
	for _, text := range []string{"postgres://u:hunter2@127.0.0.1:1/d", "host=127.0.0.1 password=hunter2"} {
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
		got := runWith(t, []string{"GLUEPOT_DATABASE_URL=" + text}, "serve", "--help", "--database-url", text)
		if strings.Contains(got.stdout+got.stderr, password) {
			t.Errorf("help: got %+v, want no password in it", got)
		}
	}
}
