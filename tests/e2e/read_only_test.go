package e2e

import (
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// TestReadOnlyServer checks that a read-only server is ready, answers reads with and without a token, refuses
// everything else, and changes nothing by itself.
func TestReadOnlyServer(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		db := database.SQL(t, cfg)
		state := func() (state [3]int) {
			const counts = `SELECT (SELECT count(*) FROM pastes),
				(SELECT count(*) FROM access_tokens WHERE last_used_at IS NOT NULL),
				(SELECT count(*) FROM paste_quotas)`
			if err := db.QueryRowContext(t.Context(), counts).Scan(&state[0], &state[1], &state[2]); err != nil {
				t.Fatal(err)
			}
			return state
		}
		before := state()
		server := program.Serve(t, cfg.URL, "GLUEPOT_READ_ONLY=true", "GLUEPOT_SWEEP_INTERVAL=50ms", "GLUEPOT_MCP=true",
			"GLUEPOT_TOKEN_USE_INTERVAL=50ms",
			"GLUEPOT_LIMIT_ANONYMOUS_PASTES=10")
		for path, token := range map[string]string{
			"/readyz": "", "/user/Epoxy": "", "/paste/tie0000a": "", "/user/self": program.MortarToken,
			"/user/self/pastes": program.MortarToken,
		} {
			if status, body := server.Get(path, token); status != http.StatusOK {
				t.Errorf("%s: got %d and %s, want 200", path, status, body)
			}
		}
		for _, c := range []struct{ method, path, token, body string }{
			{http.MethodPost, "/paste", "", `{"pasties":[{"code":"a"}]}`},
			{http.MethodPost, "/paste", program.MortarToken, `{"pasties":[{"code":"a"}]}`},
			{http.MethodDelete, "/paste/tie0000a", program.EpoxyToken, ""},
		} {
			request, err := http.NewRequestWithContext(t.Context(), c.method, "http://"+server.Address+c.path,
				strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			if c.token != "" {
				request.Header.Set("Authorization", c.token)
			}
			response, err := server.Client().Do(request)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(response.Body)
			_ = response.Body.Close()
			if response.StatusCode != http.StatusServiceUnavailable ||
				!strings.Contains(string(body), "This server is read-only for now.") {
				t.Errorf("%s %s: got %d and %s, want 503 and the reason", c.method, c.path, response.StatusCode, body)
			}
		}
		for _, token := range []string{"", program.EpoxyToken} {
			a := newAgent(t, server, token)
			a.mustCall("read_paste", arguments{"id": "tie0000a"}, &toolPaste{})
			a.wantRefusal("create_paste", arguments{"pasties": texts(arguments{"code": "a"})},
				"This server is read-only for now.")
			if token != "" {
				a.wantRefusal("edit_paste", arguments{"id": "tie0000a", "title": "a"}, "This server is read-only for now.")
				a.wantRefusal("delete_paste", arguments{"id": "tie0000a"}, "This server is read-only for now.")
			}
		}
		time.Sleep(300 * time.Millisecond) // several intervals
		if after := state(); after != before {
			t.Errorf("got %v pastes, used tokens and clients, want %v as before", after, before)
		}
		server.Signal(syscall.SIGTERM)
		if code := server.Wait(); code != 0 || strings.Contains(server.Stderr.String(), "last-used times") {
			t.Errorf("got exit code %d, want 0 and no message about last-used times: %s", code, &server.Stderr)
		}
	})
}
