package e2e

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// TestLimits wants every operation to be refused to a client that asks too much, and the health checks to go on.
func TestLimits(t *testing.T) {
	t.Parallel()
	p := program.Serve(t, string(database.SQLite(t).URL), "GLUEPOT_LIMIT_RATE=1", "GLUEPOT_LIMIT_BURST=1")
	for _, operation := range []struct{ method, path string }{
		{http.MethodGet, "/user/epoxy/exists"},
		{http.MethodGet, "/user/epoxy"},
		{http.MethodGet, "/user/self"},
		{http.MethodGet, "/user/self/pastes"},
		{http.MethodGet, "/data/language?name=Go"},
		{http.MethodGet, "/data/languageExt?extension=go"},
		{http.MethodGet, "/data/numPastes"},
		{http.MethodPost, "/paste"},
		{http.MethodGet, "/paste/abcdefgh"},
		{http.MethodPatch, "/paste/abcdefgh"},
		{http.MethodDelete, "/paste/abcdefgh"},
		{http.MethodPost, "/raw"},
		{http.MethodGet, "/raw/abcdefgh/abcdefgh"},
		{http.MethodGet, "/time/expiresInToUnixTime?createdAt=1&expiresIn=1h"},
		{http.MethodGet, "/openapi.yaml"},
		{http.MethodGet, "/openapi.json"},
		{http.MethodGet, "/docs"},
		{http.MethodGet, "/docs/page.css"},
	} {
		program.Eventually(t, operation.method+" "+operation.path+" is refused", func() bool { // one a second is not
			answer, _ := exchange(t, p, operation.method, operation.path)
			if answer.StatusCode != http.StatusTooManyRequests {
				return false
			}
			if retry := answer.Header.Get("Retry-After"); retry != "1" {
				t.Errorf("%s %s: got Retry-After %q, want 1", operation.method, operation.path, retry)
			}
			return true
		})
	}
	wantStatus(t, p, "/healthz", http.StatusOK)
	wantStatus(t, p, "/readyz", http.StatusOK)
}

// TestNoLimitsByDefault sends more than anybody would be allowed.
func TestNoLimitsByDefault(t *testing.T) {
	t.Parallel()
	p := program.Serve(t, string(database.SQLite(t).URL))
	for range 200 {
		answer, _ := exchange(t, p, http.MethodGet, "/user/self")
		if answer.StatusCode != http.StatusUnauthorized || answer.Header.Get("RateLimit") != "" {
			t.Fatalf("got %d with %v, want 401 and no limit", answer.StatusCode, answer.Header)
		}
	}
}

// TestAnonymousPastesAreLimited asks two nodes at once for more pastes than an address may create, and looks at who else may.
func TestAnonymousPastesAreLimited(t *testing.T) {
	t.Parallel()
	cfg := database.Postgres(t)
	program.Fixture(t, cfg)
	db := database.SQL(t, cfg)
	var nodes [2]*program.Process
	for i := range nodes {
		nodes[i] = program.Serve(t, string(cfg.URL), "GLUEPOT_LIMIT_ANONYMOUS_PASTES=5", "GLUEPOT_HTTP_TRUSTED_PROXIES=127.0.0.1",
			"GLUEPOT_ADMIN_ADDR=127.0.0.1:0", "GLUEPOT_LIMIT_RATE=1000", "GLUEPOT_SWEEP_INTERVAL=100ms")
	}
	const body = `{"pasties":[{"code":"x"}]}`
	create := func(node int, path, client string, headers ...string) *http.Response {
		content := body
		if path == "/raw" {
			content = "x"
		}
		answer, _ := exchange(t, nodes[node], http.MethodPost, path, append(headers, "X-Forwarded-For: "+client, "\n"+content)...)
		return answer
	}
	// together creates 20 pastes at once and wants 5 of them.
	together := func(clients ...string) {
		t.Helper()
		var (
			mu       sync.Mutex
			statuses = make(map[int]int)
			all      sync.WaitGroup
		)
		for i := range 20 {
			all.Go(func() {
				answer := create(i%2, []string{"/paste", "/raw"}[i/2%2], clients[i%len(clients)])
				mu.Lock()
				defer mu.Unlock()
				statuses[answer.StatusCode]++
				if retry, err := strconv.Atoi(answer.Header.Get("Retry-After")); answer.StatusCode == http.StatusTooManyRequests &&
					(err != nil || retry < 600 || retry > 720) {
					t.Errorf("got Retry-After %q, want up to a fifth of an hour", answer.Header.Get("Retry-After"))
				}
			})
		}
		all.Wait()
		if statuses[http.StatusOK] != 5 || statuses[http.StatusTooManyRequests] != 15 {
			t.Errorf("%v: got the statuses %v, want 5 pastes and 15 refusals", clients, statuses)
		}
	}
	together("192.0.2.1")
	together("2001:db8::1", "2001:db8::ffff:0:0:1") // of one network
	wantCreated := func(what string, answer *http.Response, limits string) {
		t.Helper()
		if got := strings.Join(answer.Header["Ratelimit"], ";"); answer.StatusCode != http.StatusOK || !strings.HasSuffix(got, limits) {
			t.Errorf("%s: got %s, limits %s, want 200 and %s", what, answer.Status, got, limits)
		}
	}
	other := create(0, "/paste", "2001:db8:0:1::1")
	wantCreated("another network", other, `"anonymous-pastes";r=4;t=720`)
	if got := other.Header.Get("RateLimit-Policy"); got != `"anonymous-pastes";q=5;w=3600` {
		t.Errorf("got the policy %s, want that of anonymous pastes", got)
	}
	for range 6 {
		answer := create(1, "/paste", "192.0.2.1", owner)
		wantCreated("a token", answer, "")
		if got := answer.Header["Ratelimit"]; got != nil {
			t.Errorf("a token: got RateLimit %s, want none: its pastes are not counted", got)
		}
	}
	code, _, stderr := program.Run(t, []string{"GLUEPOT_DATABASE_URL=" + string(cfg.URL), "GLUEPOT_LIMIT_ANONYMOUS_PASTES=1"},
		"paste", "create", "--anonymous")
	if code != 0 {
		t.Errorf("an operator: got exit code %d, %s, want 0", code, stderr)
	}
	for _, minutes := range []int{12, 24} { // as if they had passed
		if _, err := db.Exec("UPDATE paste_quotas SET full_at = full_at - $1 * interval '1 minute'", minutes); err != nil {
			t.Fatal(err)
		}
		for range minutes / 12 {
			wantCreated("later", create(minutes/12%2, "/raw", "192.0.2.1"), "")
		}
		if answer := create(0, "/raw", "192.0.2.1"); answer.StatusCode != http.StatusTooManyRequests {
			t.Errorf("got %s once that is used, want 429", answer.Status)
		}
	}
	if _, err := db.Exec("UPDATE paste_quotas SET full_at = full_at - interval '1 hour'"); err != nil {
		t.Fatal(err)
	}
	program.Eventually(t, "the clients are forgotten", func() (empty bool) {
		return db.QueryRow("SELECT NOT EXISTS (SELECT 1 FROM paste_quotas)").Scan(&empty) == nil && empty
	})
	refused := 0
	for _, node := range nodes {
		admin, _ := node.WaitForLog("serving metrics")["address"].(string)
		for line := range strings.Lines(scrape(t, admin, "/metrics")) {
			if count, ok := strings.CutPrefix(line, `gluepot_requests_limited_total{limit="anonymous_pastes"} `); ok {
				n, _ := strconv.Atoi(strings.TrimSpace(count))
				refused += n
			}
		}
	}
	if refused != 32 {
		t.Errorf("got %d refusals in the metrics, want 32", refused)
	}
}
