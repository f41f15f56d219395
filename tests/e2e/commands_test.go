package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// commandRunner runs commands while a server runs on the same database, whose next answer must show each change.
type commandRunner struct {
	*testing.T
	url    string
	server *program.Process
}

// besideServer runs test with a server on each database.
func besideServer(t *testing.T, test func(commandRunner)) {
	t.Helper()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		test(commandRunner{t, cfg.URL, program.Serve(t, cfg.URL, "GLUEPOT_TOKEN_USE_INTERVAL=50ms")})
	})
}

// run runs a command, whose arguments are separated by spaces, and returns what it prints.
func (r commandRunner) run(line string) string {
	r.Helper()
	code, stdout, stderr := program.Run(r.T, []string{"GLUEPOT_DATABASE_URL=" + r.url}, strings.Fields(line)...)
	if code != 0 {
		r.Fatalf("%s: got exit code %d, want 0: %s%s", line, code, stdout, stderr)
	}
	return stdout
}

// field runs a command that prints one line of JSON, and returns one field of it.
func (r commandRunner) field(line, name string) string {
	r.Helper()
	var fields map[string]any
	if text := r.run(line); json.Unmarshal([]byte(text), &fields) != nil {
		r.Fatalf("%s: got %q, want one line of JSON", line, text)
	}
	return fmt.Sprint(fields[name])
}

// wantAnswer requests a path, and checks that the answer contains all parts.
func (r commandRunner) wantAnswer(path, token string, status int, parts ...string) {
	r.Helper()
	got, body := r.server.Get(path, token)
	for _, part := range parts {
		if !strings.Contains(body, part) {
			r.Errorf("%s: got %s, want %q in it", path, body, part)
		}
	}
	if got != status {
		r.Errorf("%s: got %d, want %d: %s", path, got, status, body)
	}
}

func TestUserCommandsBesideServer(t *testing.T) {
	t.Parallel()
	besideServer(t, func(r commandRunner) {
		id := r.field(
			"user create Epoxy --public --avatar-url https://example.com/e --supporter-months 7 --contributor --json", "id")
		r.wantAnswer("/user/epoxy", "", http.StatusOK, `"_id":"`+id+`"`, `"username":"Epoxy"`, `"supporterLength":7`,
			`"contributor":true`,
			`"avatarUrl":"https://example.com/e"`)
		r.run("user update epoxy --public=false")
		r.wantAnswer("/user/epoxy", "", http.StatusNotFound)
		r.wantAnswer("/user/epoxy/exists", "", http.StatusOK)
		r.run("user delete epoxy --yes")
		r.wantAnswer("/user/epoxy/exists", "", http.StatusNotFound)
	})
}

func TestTokenCommandsBesideServer(t *testing.T) {
	t.Parallel()
	besideServer(t, func(r commandRunner) {
		r.run("user create epoxy --service github=1 --service gitlab=2")
		r.run("user update epoxy --service gitlab=")
		lines := strings.Split(strings.TrimSpace(r.run("token issue epoxy --expires-in 90d")), "\n")
		secret := lines[len(lines)-1]
		r.wantAnswer("/user/self", secret, http.StatusOK, `"serviceIds":{"github":"1"}`, `"stars":[]`)
		program.Eventually(r.T, "the last use is stored", func() bool {
			return r.field("token list epoxy --json", "lastUsedAt") != "<nil>"
		})
		r.run("token revoke " + r.field("token list epoxy --json", "id"))
		r.wantAnswer("/user/self", secret, http.StatusUnauthorized)
	})
}

func TestPasteCommandsBesideServer(t *testing.T) {
	t.Parallel()
	besideServer(t, func(r commandRunner) {
		r.run("user create epoxy")
		secret := r.field("token issue epoxy --json", "token")
		first := r.field("paste create --owner epoxy --json", "_id")
		second := r.field("paste create --owner epoxy --expires-in 1h --json", "_id")
		r.run("paste create")
		r.wantAnswer("/user/self/pastes", secret, http.StatusOK, `["`+second+`","`+first+`"]`)
		r.wantAnswer("/data/numPastes", "", http.StatusOK, `{"numPastes":3}`)
		r.run("paste delete " + second)
		r.wantAnswer("/data/numPastes", "", http.StatusOK, `{"numPastes":2}`)
		r.run("user delete epoxy --yes")
		r.wantAnswer("/data/numPastes", "", http.StatusOK, `{"numPastes":1}`)
	})
}

// TestExitCodes checks a few exit codes of the real program. tests/commands covers all of them.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	settings := []string{"GLUEPOT_DATABASE_URL=" + database.SQLite(t).URL}
	for line, want := range map[string]int{"stats": 0, "user show nobody": 1, "nonsense": 2} {
		if code, stdout, stderr := program.Run(t, settings, strings.Fields(line)...); code != want ||
			(stderr == "") != (want == 0) {
			t.Errorf("%s: got exit code %d, %q, %q, want %d", line, code, stdout, stderr, want)
		}
	}
}
