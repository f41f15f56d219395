package httpapi

import (
	"net/http"
	"strings"
	"testing"
)

func TestPreflight(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	cfg.BasePath = "/api/v2"
	api, _ := newTestAPI(t, newStore(), cfg)
	for path, methods := range map[string]string{
		"/user/epoxy/exists": "GET, HEAD, OPTIONS", "/user/epoxy": "GET, HEAD, OPTIONS", "/user/self": "GET, HEAD, OPTIONS",
		"/user/self/pastes": "GET, HEAD, OPTIONS", "/data/language": "GET, HEAD, OPTIONS", "/data/languageExt": "GET, HEAD, OPTIONS",
		"/data/numPastes": "GET, HEAD, OPTIONS", "/paste": "POST, OPTIONS", "/paste/abc": "GET, HEAD, PATCH, DELETE, OPTIONS",
		"/raw": "POST, OPTIONS", "/raw/abc/def": "GET, HEAD, OPTIONS", "/time/expiresInToUnixTime": "GET, HEAD, OPTIONS",
		"/openapi.yaml": "GET, HEAD, OPTIONS", "/openapi.json": "GET, HEAD, OPTIONS",
		"/docs": "GET, HEAD, OPTIONS", "/docs/page.css": "GET, HEAD, OPTIONS",
	} {
		for _, target := range []string{"/api/v2" + path, "/api/v2" + path + "/"} {
			answer := request(api, http.MethodOptions, target, http.Header{"Origin": {"https://example.com"}})
			for name, want := range map[string]string{
				"Allow": methods, "Access-Control-Allow-Methods": methods,
				"Access-Control-Allow-Headers": "Authorization, Content-Type, If-None-Match, Gluepot-Delete-Key",
				"Access-Control-Max-Age":       "86400", "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Credentials": "", "Content-Type": "",
			} {
				if got := answer.Header().Get(name); got != want || answer.Code != http.StatusNoContent {
					t.Errorf("%s: got %d, %s: %q, want 204 and %q", target, answer.Code, name, got, want)
				}
			}
			for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
				refused := request(api, method, target, nil)
				if strings.Contains(methods, method) != (refused.Code != http.StatusMethodNotAllowed) {
					t.Errorf("%s %s: got %d, want 405 unless %s has it", method, target, refused.Code, methods)
				}
				if got := refused.Header().Get("Allow"); refused.Code == http.StatusMethodNotAllowed && got != methods {
					t.Errorf("%s %s: got Allow: %s, want %s", method, target, got, methods)
				}
			}
		}
	}
}

func TestOrigin(t *testing.T) {
	t.Parallel()
	api, _ := newTestAPI(t, newStore(), DefaultConfig())
	for _, c := range []struct{ method, target string }{
		{"GET", "/user/epoxy"}, {"HEAD", "/user/epoxy"}, {"GET", "/user/self/pastes"}, {"GET", "/data/language?name=Go"},
		{"GET", "/data/language"},
		{"GET", "/nowhere"}, {"POST", "/user/epoxy"}, {"GET", "/user%2Fepoxy"}, {"OPTIONS", "*"}, {"GET", "/healthz"}, {"POST", "/paste"},
		{"GET", "/openapi.yaml"}, {"GET", "/openapi.json"},
	} {
		for _, origin := range []string{"https://example.com", "null", ""} {
			header := request(api, c.method, c.target, http.Header{"Origin": {origin}}).Header()
			if header.Get("Access-Control-Allow-Origin") != "*" || header.Get("Access-Control-Expose-Headers") != exposedHeaders[0] {
				t.Errorf("%s %s from %q: got %v, want every origin to be allowed", c.method, c.target, origin, header)
			}
		}
		for name := range request(api, c.method, c.target, nil).Header() {
			if strings.HasPrefix(name, "Access-Control") {
				t.Errorf("%s %s without Origin: got %s, want nothing of CORS", c.method, c.target, name)
			}
		}
	}
}
