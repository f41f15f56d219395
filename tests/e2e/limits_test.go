package e2e

import (
	"net/http"
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
