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

// TestCommands works beside a running server: each change shows in its next answer.
func TestCommands(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		server := program.Serve(t, string(cfg.URL), "GLUEPOT_TOKEN_USE_INTERVAL=50ms")
		gluepot := func(wantCode int, line string) string {
			t.Helper()
			code, stdout, stderr := program.Run(t, []string{"GLUEPOT_DATABASE_URL=" + string(cfg.URL)}, strings.Fields(line)...)
			if code != wantCode || (code != 0) != strings.Contains(stderr, "gluepot: ") {
				t.Fatalf("%s: exit code %d, want %d: %s%s", line, code, wantCode, stdout, stderr)
			}
			return stdout
		}
		field := func(line, name string) string {
			t.Helper()
			var v map[string]any
			if err := json.Unmarshal([]byte(gluepot(0, line)), &v); err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(v[name])
		}
		wantAnswer := func(path, token string, status int, parts ...string) {
			t.Helper()
			got, body := server.Get(path, token)
			for _, part := range parts {
				if !strings.Contains(body, part) {
					t.Errorf("%s: %q is not in %s", path, part, body)
				}
			}
			if got != status {
				t.Errorf("%s: %d, want %d: %s", path, got, status, body)
			}
		}

		id := field("user create Epoxy --public --avatar-url https://example.com/e --supporter-months 7 --contributor --service github=1 --service gitlab=2 --json", "id")
		wantAnswer("/user/epoxy", "", http.StatusOK, `"_id":"`+id+`"`, `"username":"Epoxy"`, `"supporterLength":7`, `"contributor":true`, `"avatarUrl":"https://example.com/e"`)
		gluepot(1, "user create ePOXY")
		gluepot(1, "user create -- -x")
		gluepot(1, "user show nobody")
		gluepot(0, "user update epoxy --public=false --service gitlab=")
		wantAnswer("/user/epoxy", "", http.StatusNotFound)

		lines := strings.Split(strings.TrimSpace(gluepot(0, "token issue epoxy --name laptop --expires-in 90d")), "\n")
		secret := lines[len(lines)-1]
		wantAnswer("/user/self", secret, http.StatusOK, `"serviceIds":{"github":"1"}`, `"stars":[]`)
		tokenID := field("token list epoxy --json", "id")
		if list := gluepot(0, "token list epoxy"); strings.Contains(list, secret) || !strings.Contains(list, "laptop") {
			t.Error(list)
		}
		program.Eventually(t, "the last use is stored", func() bool { return field("token list epoxy --json", "lastUsedAt") != "<nil>" })

		first := field("paste create --owner epoxy --json", "id")
		second := field("paste create --owner epoxy --expires-in 1h --json", "id")
		gluepot(0, "paste create --anonymous")
		gluepot(2, "paste create")
		gluepot(1, "paste create --owner nobody")
		gluepot(0, "paste star epoxy "+first)
		gluepot(0, "paste star epoxy "+second)
		wantAnswer("/user/self/pastes", secret, http.StatusOK, `["`+second+`","`+first+`"]`)
		wantAnswer("/user/self", secret, http.StatusOK, `"stars":["`+first+`","`+second+`"]`)
		wantAnswer("/data/numPastes", "", http.StatusOK, `{"numPastes":3}`)
		gluepot(0, "paste unstar epoxy "+first)
		gluepot(1, "paste unstar epoxy "+first)
		gluepot(0, "paste delete "+second)
		gluepot(1, "paste delete "+second)
		wantAnswer("/user/self", secret, http.StatusOK, `"stars":[]`)
		wantAnswer("/data/numPastes", "", http.StatusOK, `{"numPastes":2}`)
		if list := gluepot(0, "paste list epoxy"); !strings.Contains(list, first) || !strings.Contains(list, "active") {
			t.Error(list)
		}
		if got := gluepot(0, "stats --json"); got != `{"users":1,"tokens":1,"activePastes":2,"expiredUnsweptPastes":0,"waitingStars":1}`+"\n" {
			t.Error(got)
		}

		gluepot(0, "token revoke "+tokenID)
		gluepot(1, "token revoke unknown")
		wantAnswer("/user/self", secret, http.StatusUnauthorized)
		gluepot(1, "user delete epoxy") // nobody answers the question
		gluepot(0, "user delete epoxy --yes")
		wantAnswer("/user/epoxy/exists", "", http.StatusNotFound)
		wantAnswer("/data/numPastes", "", http.StatusOK, `{"numPastes":1}`)
		if got := gluepot(0, "stats --json"); got != `{"users":0,"tokens":0,"activePastes":1,"expiredUnsweptPastes":0,"waitingStars":0}`+"\n" {
			t.Error(got)
		}
		for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
			if script := gluepot(0, "completion "+shell); !strings.Contains(script, "gluepot") {
				t.Error(shell)
			}
		}
	})
}
