package httpapi

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/gluepot/gluepot/domain/fault"
)

// somePages has one page, and a second that takes forms.
type somePages struct{}

func (somePages) Routes() map[string]string {
	return map[string]string{"/:id": "GET, HEAD, OPTIONS", "/:id/form": "GET, HEAD, POST, OPTIONS"}
}

func (p somePages) Route(path string) string {
	if strings.HasSuffix(path, "/form") {
		return "/:id/form"
	}
	return "/:id"
}

func (somePages) Answer(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "text/html")
	w.Header().Set("Set-Cookie", "seen=1")
	_, limited := r.Context().Deadline()
	_, _ = fmt.Fprintf(w, "page %s, a deadline: %v", r.URL.Path, limited)
	switch r.URL.Path {
	case "/missing":
		return fault.New(fault.NotFound, "not here")
	case "/broken":
		return fault.New(fault.Unavailable, "later")
	case "/panic":
		panic("a page")
	case "/long":
		_, err := io.WriteString(w, strings.Repeat("x", 2*maxHeld))
		return err
	case "/a/form":
		body, err := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(w, ": %s", body)
		return err
	}
	return nil
}

func (somePages) AnswerError(w http.ResponseWriter, _ *http.Request, status int, message string) {
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "error %d %s", status, message)
}

// browser is the header Accept of one.
var browser = http.Header{"Accept": {"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"}}

func TestPages(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	cfg.Pages = somePages{}
	api, lines := newTestAPI(t, newStore(), cfg)
	for _, c := range []struct {
		method, target string
		accept         http.Header
		status         int
		body, route    string // the body's beginning
	}{
		{"GET", "/k2j4x8m1", nil, 200, "page /k2j4x8m1, a deadline: true", "/:id"},
		{"HEAD", "/long", nil, 200, "", "/:id"},
		{"POST", "/k2j4x8m1", nil, 405, `{"type"`, "/:id"},
		{"POST", "/k2j4x8m1", browser, 405, "error 405 This path", "/:id"},
		{"POST", "/a/form", nil, 200, "page /a/form, a deadline: true: body", "/:id/form"},
		{"OPTIONS", "/a/form", nil, 204, "", "/:id/form"},
		{"GET", "/missing", nil, 404, `{"type":"about:blank","title":"Not Found","status":404,"detail":"There is nothing at`, "/:id"},
		{"GET", "/missing", browser, 404, "error 404 ", "/:id"},
		{"GET", "/missing", http.Header{"Accept": {"text/html;q=0.5, application/json"}}, 404, "{", "/:id"},
		{"GET", "/broken", browser, 503, "error 503 later", "/:id"},
		{"GET", "/panic", browser, 500, "error 500 " + fault.MessageInternal, "/:id"},
		{"GET", "/long", nil, 200, "page /long, a deadline: true" + strings.Repeat("x", 2*maxHeld), "/:id"},
		{"GET", "/a%2Fb", browser, 404, "error 404 ", ""},
		// Paths of the interface win, and what is below their first segments.
		{"GET", "/user/epoxy", browser, 200, `{"_id"`, "/user/:username"},
		{"GET", "/paste", browser, 405, `{"type"`, ""},
		{"GET", "/paste/a/form", browser, 404, `{"type"`, ""},
		{"GET", "/healthz", browser, 200, `{`, "/healthz"},
	} {
		r := httptest.NewRequest(c.method, c.target, nil)
		if c.method == http.MethodPost {
			r = httptest.NewRequest(c.method, c.target, strings.NewReader("body"))
		}
		r.Header = http.Header{"Accept": c.accept["Accept"], "Origin": {"https://example.com"}}
		lines.TakeAll()
		recorder := httptest.NewRecorder()
		api.ServeHTTP(recorder, r)
		got := recorder.Body.String()
		if recorder.Code != c.status || !strings.HasPrefix(got, c.body) || (c.body == "") != (got == "") {
			t.Errorf("%s %s: got %d %.200s, want %d %.200s", c.method, c.target, recorder.Code, got, c.status, c.body)
		}
		if n := lines.FilterMessage("request").FilterField(zap.String("route", c.route)).Len(); n != 1 {
			t.Errorf("%s %s: got %d lines with the route %q, want one", c.method, c.target, n, c.route)
		}
		page := strings.HasPrefix(got, "page") || strings.HasPrefix(got, "error")
		if shared := recorder.Header().Get("Access-Control-Allow-Origin") != ""; page && shared {
			t.Errorf("%s %s: got a page that other sites may read, want none", c.method, c.target)
		}
		if set := recorder.Header().Get("Set-Cookie") != ""; set != strings.HasPrefix(got, "page") && c.body != "" {
			t.Errorf("%s %s: got a cookie: %v, want one with a page and none with an error", c.method, c.target, set)
		}
	}
}

func TestPagesAreTagged(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	cfg.Pages = somePages{}
	api, _ := newTestAPI(t, newStore(), cfg)
	etag := request(api, http.MethodGet, "/k2j4x8m1", nil).Header().Get("Etag")
	again := request(api, http.MethodGet, "/k2j4x8m1", http.Header{"If-None-Match": {etag}})
	if etag == "" || again.Code != http.StatusNotModified || again.Body.Len() > 0 {
		t.Errorf("got the ETag %q and then %d, want one and 304", etag, again.Code)
	}
}

func TestPagesAreLimitedAndObserved(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	cfg.Pages, cfg.BasePath = somePages{}, "/api/v2"
	cfg.Limits = Limits{Rate: 1, Burst: 1}
	seen := map[string]bool{}
	cfg.Observe = func(method, route string) RouteObserver {
		seen[method+" "+route] = true
		return ignoring{}
	}
	api, _ := newTestAPI(t, newStore(), cfg)
	for _, want := range []string{"GET /:id", "HEAD /:id", "POST /:id/form", "GET /api/v2/paste/:id"} {
		if !seen[want] {
			t.Errorf("got no observer of %s, want one", want)
		}
	}
	request(api, http.MethodGet, "/k2j4x8m1", browser)
	answer := request(api, http.MethodGet, "/k2j4x8m1", browser)
	if answer.Code != http.StatusTooManyRequests || !strings.HasPrefix(answer.Body.String(), "error 429") ||
		answer.Header().Get("Retry-After") == "" {
		t.Errorf("got %d %s, want a page of 429", answer.Code, answer.Body)
	}
	if answer = request(api, http.MethodGet, "/api/nothing", browser); answer.Body.String()[0] != '{' {
		t.Errorf("got %s below the base path, want JSON", answer.Body)
	}
}

type ignoring struct{}

func (ignoring) Began()                   {}
func (ignoring) Ended(int, time.Duration) {}
