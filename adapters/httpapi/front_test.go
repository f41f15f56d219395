package httpapi

import (
	"net/http"
	"strings"
	"testing"
)

// TestFront asks for "/" as people and programs do.
func TestFront(t *testing.T) {
	t.Parallel()
	for _, base := range []string{"", "/api/v2"} {
		cfg := DefaultConfig()
		cfg.BasePath = base
		api, _ := newTestAPI(t, newStore(), cfg)
		for _, accept := range []http.Header{nil, {"Accept": {"*/*"}}, {"Accept": {"text/html,*/*;q=0.8"}}} {
			if answer := request(api, http.MethodHead, "/", accept); answer.Code != http.StatusOK {
				t.Errorf("HEAD / for %q: got %d, want 200", accept["Accept"], answer.Code)
			}
		}
		page := request(api, http.MethodGet, "/", nil)
		header := page.Header()
		if page.Code != http.StatusOK || header.Get("Content-Type") != "text/html; charset=utf-8" || header.Get("Vary") != "Origin" ||
			header.Get("Content-Security-Policy") != frontPolicy[0] {
			t.Errorf("got %d, %v, want 200 and a page", page.Code, header)
		}
		for _, link := range []string{"/docs", "/openapi.yaml", "/openapi.json", "/docs/page.css"} {
			if !strings.Contains(page.Body.String(), `href="`+base+link+`"`) {
				t.Errorf("got %s, want a link to %s", page.Body, base+link)
			}
		}
		for _, c := range []struct{ method, target, accept string }{
			{"POST", "/", "text/html"}, {"GET", "//", "text/html"},
			{"GET", "/%2F", "text/html"}, {"GET", "/nowhere", "text/html"},
		} {
			answer := request(api, c.method, c.target, http.Header{"Accept": {c.accept}})
			if answer.Code != http.StatusNotFound || answer.Header().Get("Content-Type") != "application/json" {
				t.Errorf("%s %s for %q: got %d, %v, want 404 and the error body", c.method, c.target, c.accept, answer.Code, answer.Header())
			}
		}
	}
}
