package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"go.uber.org/zap"

	"github.com/gluepot/gluepot/domain/token"
)

func FuzzHeaders(f *testing.F) {
	for _, seed := range []string{
		"", "Bearer x", "token  y ", "bEARER", "Basic eDp5", "\t", "application/problem+json;q=0.5, */*",
		`W/"a", "`, "a;q=;;",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		c, _ := gin.CreateTestContext(httptest.NewRecorder())
		c.Request = httptest.NewRequest(http.MethodGet, "/", nil)
		c.Request.Header["Authorization"] = []string{value}
		secret := presentedToken(c)
		if !strings.Contains(value, secret) || strings.HasPrefix(secret, " ") || strings.HasSuffix(secret, " ") {
			t.Errorf("%q: got the token %q, want a part of it without spaces around", value, secret)
		}
		prefers([]string{value}, mediaProblem, mediaJSON)
		matchesETag([]string{value}, `"a"`)
		if validRequestID(value) && strings.ContainsAny(value, "\r\n\x00\" ") {
			t.Errorf("the request id %q: got valid, want invalid", value)
		}
	})
}

// TestHeadersOfManyElements checks that long headers cost few allocations.
func TestHeadersOfManyElements(t *testing.T) {
	cfg := DefaultConfig()
	cfg.TrustedProxies = []string{"0.0.0.0/0"}
	api, _ := newTestAPI(t, newStore(), cfg)
	api.log = zap.NewNop()
	many := func(element string) []string { return []string{strings.Repeat(element, 60<<10/len(element))} }
	for name, values := range map[string][]string{
		"Accept": many("a/b;q=0.5,"), "Accept-Encoding": many("a;q=0.5,"), "If-None-Match": many(`"x",`),
		"X-Forwarded-For": many("10.0.0.1,"), "Authorization": many("a "),
		"Cookie": many("a=b;"), requestIDHeader: many("a"),
	} {
		for _, target := range []string{"/data/language?name=Go", "/nowhere", "/", "/docs/swagger-ui.css"} {
			r := httptest.NewRequest(http.MethodGet, target, nil)
			allocations := func() float64 {
				return testing.AllocsPerRun(10, func() { api.ServeHTTP(nowhere{http.Header{}}, r) })
			}
			plain := allocations()
			r.Header[name] = values
			if got := allocations(); got > plain+20 {
				t.Errorf("%s with %s: got %v allocations, want at most 20 more than %v", target, name, got, plain)
			}
		}
	}
	if prefers([]string{mediaProblem + strings.Repeat(",a/b", 400)}, mediaProblem, mediaJSON) ||
		!prefers([]string{"text/html", mediaProblem}, mediaProblem, mediaJSON) {
		t.Error("got another media type, want that of the first KiB of Accept")
	}
}

func TestPrefersProblem(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]bool{
		"": false, "*/*": false, "application/json": false, "text/html, */*;q=0.1": false,
		"application/problem+json": true, "Application/Problem+JSON": true, "application/problem+json; q=0.1": true,
		"application/problem+json;q=0": false, "application/problem+json;q=x": false, ";;;,,,": false,
		"*/*, application/problem+json;q=0.1": false, "application/*;q=0.5, application/problem+json;q=0.1": false,
		"application/json;q=0.1, */*, application/problem+json;q=0.1": true, "application/problem+json, */*": true,
		"application/json;q=0.9, application/problem+json": true, "application/json, application/problem+json;q=0.9": false,
	} {
		if prefers([]string{accept}, mediaProblem, mediaJSON) != want {
			t.Errorf("%q: got %v, want %v", accept, !want, want)
		}
	}
}

func TestPrefersHTML(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]bool{
		"": false, "*/*": false, "application/json": false, "text/*": false, "application/json, text/html;q=0.9": false,
		"text/html;q=0":        false,
		"*/*, text/html;q=0.1": false, "text/html": true, "Text/HTML;charset=utf-8": true,
		"text/html, application/json":                                     true,
		"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": true,
	} {
		if prefers([]string{accept}, mediaHTML, mediaJSON) != want {
			t.Errorf("%q: got %v, want %v", accept, !want, want)
		}
	}
}

func TestPreflight(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	cfg.BasePath = "/api/v2"
	api, _ := newTestAPI(t, newStore(), cfg)
	for path, methods := range map[string]string{
		"/user/epoxy/exists": "GET, HEAD, OPTIONS", "/user/epoxy": "GET, HEAD, OPTIONS", "/user/self": "GET, HEAD, OPTIONS",
		"/user/self/pastes": "GET, HEAD, OPTIONS", "/data/language": "GET, HEAD, OPTIONS",
		"/data/languageExt": "GET, HEAD, OPTIONS",
		"/data/numPastes":   "GET, HEAD, OPTIONS", "/paste": "POST, OPTIONS",
		"/paste/abc": "GET, HEAD, PATCH, DELETE, OPTIONS",
		"/list/own":  "GET, HEAD, OPTIONS", "/list/user/abc": "GET, HEAD, OPTIONS", "/paste/abc/star": "PUT, DELETE, OPTIONS",
		"/raw": "POST, PUT, OPTIONS", "/raw/abc": "GET, HEAD, PUT, OPTIONS", "/raw/abc/def": "GET, HEAD, OPTIONS",
		"/time/expiresInToUnixTime": "GET, HEAD, OPTIONS",
		"/openapi.yaml":             "GET, HEAD, OPTIONS", "/openapi.json": "GET, HEAD, OPTIONS",
		"/docs": "GET, HEAD, OPTIONS", "/docs/docs.css": "GET, HEAD, OPTIONS",
	} {
		for _, target := range []string{"/api/v2" + path, "/api/v2" + path + "/"} {
			answer := request(api, http.MethodOptions, target, http.Header{"Origin": {"https://example.com"}})
			for name, want := range map[string]string{
				"Allow": methods, "Access-Control-Allow-Methods": methods,
				"Access-Control-Allow-Headers": "Authorization, Content-Type, If-None-Match, Gluepot-Delete-Key",
				"Access-Control-Max-Age":       "86400", "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Credentials": "",
				"Content-Type": "",
			} {
				if got := answer.Header().Get(name); got != want || answer.Code != http.StatusNoContent {
					t.Errorf("%s: got %d, %s: %q, want 204 and %q", target, answer.Code, name, got, want)
				}
			}
			for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
				answer := request(api, method, target, nil)
				if strings.Contains(methods, method) != (answer.Code != http.StatusMethodNotAllowed) {
					t.Errorf("%s %s: got %d, want 405 unless %s has it", method, target, answer.Code, methods)
				}
				if got := answer.Header().Get("Allow"); answer.Code == http.StatusMethodNotAllowed && got != methods {
					t.Errorf("%s %s: got Allow: %s, want %s", method, target, got, methods)
				}
			}
		}
	}
}

// TestPreflightOfNothing checks that pages of other origins can read a 404 of the API, but not of pages.
func TestPreflightOfNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		base  string
		pages Pages
		paths map[string]int
	}{
		"a base path": {"/api/v2", nil, map[string]int{
			"/api/v2": 204, "/api/v2/": 204, "/api/v2/nowhere": 204, "/api/v2/paste/a/b/c": 204, "/api/v2/a%2Fb": 204,
			"/api/nowhere": 204, "/": 204,
		}},
		"no base path": {"", nil, map[string]int{"/": 204, "/nowhere": 204, "/data/nowhere": 204}},
		"beside pages": {"/api/v2", echoPages{}, map[string]int{
			"/api/v2": 204, "/api/v2/nowhere": 204, "/a/b": 404, "/a%2Fb": 404,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := DefaultConfig()
			cfg.BasePath, cfg.Pages = c.base, c.pages
			api, _ := newTestAPI(t, newStore(), cfg)
			preflight := http.Header{"Origin": {"https://example.com"}, "Access-Control-Request-Method": {http.MethodPatch}}
			for path, status := range c.paths {
				answer := request(api, http.MethodOptions, path, preflight)
				methods := answer.Header().Get("Access-Control-Allow-Methods")
				if answer.Code != status || strings.Contains(methods, http.MethodPatch) != (status == http.StatusNoContent) {
					t.Errorf("%s: got %d and the methods %q, want %d", path, answer.Code, methods, status)
				}
				if c.pages == nil {
					answer := request(api, http.MethodPatch, path, preflight)
					if answer.Header().Get("Access-Control-Allow-Origin") != "*" {
						t.Errorf("%s: got %d %v, want it readable for all origins", path, answer.Code, answer.Header())
					}
				}
				if answer := request(api, http.MethodOptions, path, nil); answer.Code != http.StatusNotFound {
					t.Errorf("%s: got %d without a preflight, want 404", path, answer.Code)
				}
			}
			for _, endpoint := range api.endpoints() {
				if !strings.Contains(allMethods, endpoint.method) {
					t.Errorf("%s takes %s, want all methods in %s", endpoint.path, endpoint.method, allMethods)
				}
			}
		})
	}
}

func TestOrigin(t *testing.T) {
	t.Parallel()
	api, _ := newTestAPI(t, newStore(), DefaultConfig())
	for _, c := range []struct{ method, target string }{
		{"GET", "/user/epoxy"}, {"HEAD", "/user/epoxy"}, {"GET", "/user/self/pastes"}, {"GET", "/data/language?name=Go"},
		{"GET", "/data/language"},
		{"GET", "/nowhere"}, {"POST", "/user/epoxy"}, {"GET", "/user%2Fepoxy"}, {"OPTIONS", "*"}, {"GET", "/healthz"},
		{"POST", "/paste"},
		{"GET", "/openapi.yaml"}, {"GET", "/openapi.json"},
	} {
		for _, origin := range []string{"https://example.com", "null", ""} {
			header := request(api, c.method, c.target, http.Header{"Origin": {origin}}).Header()
			exposeHeaders := corsHeaders.Get("Access-Control-Expose-Headers")
			if header.Get("Access-Control-Allow-Origin") != "*" || header.Get("Access-Control-Expose-Headers") != exposeHeaders {
				t.Errorf("%s %s from %q: got %v, want every origin to be allowed", c.method, c.target, origin, header)
			}
		}
		header := request(api, c.method, c.target, nil).Header()
		if vary := strings.Join(header["Vary"], ", "); !strings.HasPrefix(vary, "Origin") {
			t.Errorf("%s %s without Origin: got Vary: %s, want Origin in it", c.method, c.target, vary)
		}
		for name := range header {
			if strings.HasPrefix(name, "Access-Control") {
				t.Errorf("%s %s without Origin: got %s, want nothing of CORS", c.method, c.target, name)
			}
		}
	}
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	direct, _ := newTestAPI(t, newStore(), DefaultConfig())
	cfg := DefaultConfig()
	cfg.TrustedProxies = []string{"192.0.2.1"} // httptest's
	behindProxy, lines := newTestAPI(t, newStore(), cfg)
	secret := token.Generate().Reveal()
	for _, c := range []struct {
		api   *API
		id    string
		keeps bool
	}{
		{direct, "abc-1", false},
		{direct, secret, false},
		{behindProxy, "abc-1", true},
		{behindProxy, secret, false},
		{behindProxy, "x" + secret[:40], false},
		{behindProxy, "", false},
		{behindProxy, "a b", false},
	} {
		answer := request(c.api, http.MethodGet, "/user/epoxy", http.Header{requestIDHeader: {c.id}})
		if got := answer.Header().Get(requestIDHeader); (got == c.id) != c.keeps || len(got) == 0 {
			t.Errorf("%q: got %q, want it to be kept: %v", c.id, got, c.keeps)
		}
	}
	for _, line := range lines.All() {
		if id, _ := line.ContextMap()["request_id"].(string); strings.Contains(id, token.Prefix) {
			t.Errorf("got a token in the log, want none: %v", line)
		}
	}
}
