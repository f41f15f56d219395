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

// beside runs commands beside a server: each change must show in its next answer.
type beside struct {
	*testing.T
	url    string
	server *program.Process
}

// besideServer runs test on each database.
func besideServer(t *testing.T, test func(beside)) {
	t.Helper()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		url := cfg.URL
		test(beside{t, url, program.Serve(t, url, "GLUEPOT_TOKEN_USE_INTERVAL=50ms")})
	})
}

// run runs a command, whose arguments are separated by spaces, and returns what it prints.
func (b beside) run(line string) string {
	b.Helper()
	code, stdout, stderr := program.Run(b.T, []string{"GLUEPOT_DATABASE_URL=" + b.url}, strings.Fields(line)...)
	if code != 0 {
		b.Fatalf("%s: got exit code %d, want 0: %s%s", line, code, stdout, stderr)
	}
	return stdout
}

// field runs a command that prints one line of JSON, and returns one field of it.
func (b beside) field(line, name string) string {
	b.Helper()
	var fields map[string]any
	if text := b.run(line); json.Unmarshal([]byte(text), &fields) != nil {
		b.Fatalf("%s: got %q, want one line of JSON", line, text)
	}
	return fmt.Sprint(fields[name])
}

// wantAnswer asks the server, and wants all those parts in the answer.
func (b beside) wantAnswer(path, token string, status int, parts ...string) {
	b.Helper()
	got, body := b.server.Get(path, token)
	for _, part := range parts {
		if !strings.Contains(body, part) {
			b.Errorf("%s: got %s, want %q in it", path, body, part)
		}
	}
	if got != status {
		b.Errorf("%s: got %d, want %d: %s", path, got, status, body)
	}
}

func TestUserCommandsBesideServer(t *testing.T) {
	t.Parallel()
	besideServer(t, func(b beside) {
		id := b.field(
			"user create Epoxy --public --avatar-url https://example.com/e --supporter-months 7 --contributor --json", "id")
		b.wantAnswer("/user/epoxy", "", http.StatusOK, `"_id":"`+id+`"`, `"username":"Epoxy"`, `"supporterLength":7`,
			`"contributor":true`,
			`"avatarUrl":"https://example.com/e"`)
		b.run("user update epoxy --public=false")
		b.wantAnswer("/user/epoxy", "", http.StatusNotFound)
		b.wantAnswer("/user/epoxy/exists", "", http.StatusOK)
		b.run("user delete epoxy --yes")
		b.wantAnswer("/user/epoxy/exists", "", http.StatusNotFound)
	})
}

func TestTokenCommandsBesideServer(t *testing.T) {
	t.Parallel()
	besideServer(t, func(b beside) {
		b.run("user create epoxy --service github=1 --service gitlab=2")
		b.run("user update epoxy --service gitlab=")
		lines := strings.Split(strings.TrimSpace(b.run("token issue epoxy --expires-in 90d")), "\n")
		secret := lines[len(lines)-1]
		b.wantAnswer("/user/self", secret, http.StatusOK, `"serviceIds":{"github":"1"}`, `"stars":[]`)
		program.Eventually(b.T, "the last use is stored", func() bool {
			return b.field("token list epoxy --json", "lastUsedAt") != "<nil>"
		})
		b.run("token revoke " + b.field("token list epoxy --json", "id"))
		b.wantAnswer("/user/self", secret, http.StatusUnauthorized)
	})
}

func TestPasteCommandsBesideServer(t *testing.T) {
	t.Parallel()
	besideServer(t, func(b beside) {
		b.run("user create epoxy")
		secret := b.field("token issue epoxy --json", "token")
		first := b.field("paste create --owner epoxy --json", "_id")
		second := b.field("paste create --owner epoxy --expires-in 1h --json", "_id")
		b.run("paste create")
		b.wantAnswer("/user/self/pastes", secret, http.StatusOK, `["`+second+`","`+first+`"]`)
		b.wantAnswer("/data/numPastes", "", http.StatusOK, `{"numPastes":3}`)
		b.run("paste delete " + second)
		b.wantAnswer("/data/numPastes", "", http.StatusOK, `{"numPastes":2}`)
		b.run("user delete epoxy --yes")
		b.wantAnswer("/data/numPastes", "", http.StatusOK, `{"numPastes":1}`)
	})
}

// TestExitCodes checks the exit codes of the real binary. tests/commands covers them in full.
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
