package httpapi

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/klauspost/compress/gzhttp"
	"go.uber.org/zap"

	"github.com/gluepot/gluepot/adapters/httpapi/limit"
	"github.com/gluepot/gluepot/adapters/internal/route"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// longPage is longer than what a request may hold without a claim.
const longPage = 64 << 10

// somePages has a few pages. Some of them take forms.
type somePages struct {
	answer route.Handler // of all pages; nil: somePage
}

func (p somePages) Routes() (pages []route.Page) {
	for path, posts := range map[string]bool{
		"/": true, "/:id": false, "/:id/form": true, "/~:name": false, "/hidden/form": true, "/everyone/:id": false,
	} {
		page := route.Page{Path: path, Get: p.answer, Secret: func(r *http.Request) (presented string, tries bool) {
			return r.Header.Get("Cookie"), path == "/:id/form" && strings.HasPrefix(r.URL.Path, "/sign-in")
		}}
		page.Hidden, page.Everyone = path == "/hidden/form", path == "/everyone/:id"
		if p.answer == nil {
			page.Get = func(w http.ResponseWriter, r *http.Request) (user.ID, bool, error) { return somePage(w, r, path) }
		}
		if posts {
			page.Post = page.Get
		}
		pages = append(pages, page)
	}
	return pages
}

func (somePages) SessionSecret(r *http.Request) string { return r.Header.Get("Cookie") }

func somePage(w http.ResponseWriter, r *http.Request, path string) (reader user.ID, rejected bool, err error) {
	if cookie := r.Header.Get("Cookie"); cookie != "" && cookie != "wrong" {
		reader = user.ID("reader of " + cookie)
	}
	w.Header().Set("Content-Type", "text/html")
	w.Header().Set("Set-Cookie", "seen=1")
	_, hasDeadline := r.Context().Deadline()
	_, _ = fmt.Fprintf(w, "page %s of %s, a deadline: %v", r.URL.Path, path, hasDeadline)
	switch r.URL.Path {
	case "/":
		_, _ = fmt.Fprintf(w, ", from %s", r.RemoteAddr)
	case "/missing":
		return reader, r.Header.Get("Cookie") == "wrong", fault.New(fault.NotFound, "not here")
	case "/broken":
		return reader, false, fault.New(fault.Unavailable, "later")
	case "/panic":
		panic("a page")
	case "/plain":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, err := io.WriteString(w, strings.Repeat("x", longPage))
		return reader, false, err
	case "/secret":
		w.Header().Set(gzhttp.HeaderNoCompression, "1")
		_, err := io.WriteString(w, strings.Repeat("x", longPage))
		return reader, false, err
	case "/file":
		w.Header().Set("Cache-Control", "public, immutable")
		_, err := io.WriteString(w, strings.Repeat("x", longPage))
		return reader, false, err
	case "/long", "/long/form":
		_, err := io.WriteString(w, strings.Repeat("x", 2*longPage))
		return reader, false, err
	case "/sign-in/form":
		return reader, true, fault.New(fault.Unauthenticated, "wrong")
	case "/a/form":
		body, err := io.ReadAll(r.Body)
		_, _ = fmt.Fprintf(w, ": %s", body)
		return reader, false, err
	}
	return reader, r.Header.Get("Cookie") == "wrong", nil
}

// TestPagesWithoutMemory requests pages while there is no memory for long ones. Answers to reads wait until there is
// enough. The answer to a form is sent at once.
func TestPagesWithoutMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg := DefaultConfig()
		cfg.Pages = somePages{}
		api, _ := newPasteAPI(t, cfg, nil)
		var claims []limit.Claim
		hold := func() {
			claims = []limit.Claim{api.memory.Claim("192.0.2.77"), api.memory.Claim("192.0.2.78")}
			claims[0].Force(api.memory.Share())
			claims[1].Force(api.memory.Share())
		}
		release := func() {
			claims[0].Release()
			claims[1].Release()
		}
		hold()
		for path, want := range map[string]int{"/long": http.StatusServiceUnavailable, "/short": http.StatusOK} {
			start := time.Now()
			answer := send(api, http.MethodGet, path, nil)
			if answer.Code != want || want == http.StatusOK && time.Since(start) > 0 {
				t.Errorf("%s: got %d after %v, want %d", path, answer.Code, time.Since(start), want)
			}
		}
		form := send(api, http.MethodPost, "/long/form", nil)
		if form.Code != http.StatusOK || form.Body.Len() < longPage {
			t.Errorf("a form: got %d, want 200", form.Code)
		}
		time.AfterFunc(time.Second, release)
		answer := send(api, http.MethodGet, "/long", nil)
		once := strings.Count(answer.Body.String(), "page /long") == 1
		if answer.Code != http.StatusOK || !once || answer.Body.Len() < 2*longPage {
			t.Errorf("a page that waits: got %d and %d bytes, want all of it once", answer.Code, answer.Body.Len())
		}
		wantAllMemory(t, api)
	})
}

func (somePages) AnswerError(w http.ResponseWriter, _ *http.Request, status int, message string) (rejected bool) {
	w.Header().Set("Content-Type", "text/html")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "error %d %s", status, message)
	return false
}

// browser has the Accept header of a browser.
var browser = http.Header{
	"Accept": {"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"},
}

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
		{"GET", "/k2j4x8m1", nil, 200, "page /k2j4x8m1 of /:id, a deadline: true", "/:id"},
		{"HEAD", "/long", nil, 200, "", "/:id"},
		{"POST", "/k2j4x8m1", nil, 405, `{"type"`, "/:id"},
		{"POST", "/k2j4x8m1", browser, 405, "error 405 This path", "/:id"},
		{"ET", "/k2j4x8m1", nil, 405, `{"type"`, "/:id"}, // the end of a method that it takes
		{"OST", "/a/form", nil, 405, `{"type"`, "/:id/form"},
		{"POST", "/a/form", nil, 200, "page /a/form of /:id/form, a deadline: true: body", "/:id/form"},
		{"OPTIONS", "/a/form", nil, 204, "", "/:id/form"},
		{"GET", "/missing", nil, 404, `{"type":"about:blank","title":"Not Found","status":404,"detail":"There is nothing at`,
			"/:id"},
		{"GET", "/missing", browser, 404, "error 404 ", "/:id"},
		{"GET", "/missing", http.Header{"Accept": {"text/html;q=0.5, application/json"}}, 404, "{", "/:id"},
		{"GET", "/broken", browser, 503, "error 503 later", "/:id"},
		{"GET", "/panic", browser, 500, "error 500 " + fault.MessageInternal, "/:id"},
		{"GET", "/long", nil, 200, "page /long of /:id, a deadline: true" + strings.Repeat("x", 2*longPage), "/:id"},
		{"GET", "/a%2Fb", browser, 404, "error 404 ", ""},
		{"GET", "//form", browser, 404, "error 404 ", "/:id/form"},
		{"GET", "/a/form/", nil, 200, "page /a/form/ of /:id/form", "/:id/form"},
		{"GET", "/hidden/form", nil, 200, "page /hidden/form of /hidden/form", "/hidden/form"},
		{"DELETE", "/hidden/form", browser, 404, "error 404 ", "/hidden/form"},
		{"OPTIONS", "/hidden/form", browser, 404, "error 404 ", "/hidden/form"},
		{"DELETE", "/hidden/other", browser, 404, "error 404 ", ""},
		{"GET", "/a/b/c", browser, 404, "error 404 ", ""},
		{"GET", "/a/b/c", nil, 404, `{"type"`, ""},
		{"GET", "/", browser, 200, "page / of /, a deadline: true, from 192.0.2.1", "/"},
		{"GET", "/", nil, 200, "page / of /, a deadline: true", "/"},
		{"GET", "/", http.Header{"Accept": {"*/*"}}, 200, "page / of /", "/"},
		{"HEAD", "/", nil, 200, "", "/"},
		{"POST", "/", nil, 200, "page / of /", "/"},
		{"OPTIONS", "/", browser, 204, "", "/"},
		// Paths of the interface win, and what is below their first segments.
		{"GET", "/user/epoxy", browser, 200, `{"_id"`, "/user/:username"},
		{"GET", "/paste", browser, 405, `{"type"`, "/paste"},
		{"GET", "/list/form", browser, 404, `{"type"`, "/:id/form"},
		{"PUT", "/paste//", browser, 404, `{"type"`, "/paste/:id"},
		{"GET", "/list/a/b", browser, 404, `{"type"`, ""},
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
		if hasCORS := recorder.Header().Get("Access-Control-Allow-Origin") != ""; page && hasCORS {
			t.Errorf("%s %s: got a page that other sites may read, want none", c.method, c.target)
		}
		if set := recorder.Header().Get("Set-Cookie") != ""; set != strings.HasPrefix(got, "page") && c.body != "" {
			t.Errorf("%s %s: got a cookie: %v, want one with a page and none with an error", c.method, c.target, set)
		}
	}
}

// TestPagesForEveryone checks that such a page sees no cookie.
func TestPagesForEveryone(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	cfg.Pages = somePages{func(_ http.ResponseWriter, r *http.Request) (user.ID, bool, error) {
		return "", false, fault.New(fault.Conflict, "with cookies: "+r.Header.Get("Cookie"))
	}}
	api, _ := newTestAPI(t, newStore(), cfg)
	for path, want := range map[string]string{"/everyone/a": "with cookies: ", "/a/form": "with cookies: a=b"} {
		header := http.Header{"Accept": browser["Accept"], "Cookie": {"a=b"}}
		if got := request(api, http.MethodGet, path, header).Body.String(); got != "error 409 "+want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

// TestUploadsBesidePages checks that an upload gets the file's name as its title, even if a page's pattern matches it.
func TestUploadsBesidePages(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	cfg.BasePath, cfg.Pages = "/api/v2", somePages{}
	api, _ := newPasteAPI(t, cfg, nil)
	for path, want := range map[string]string{"/main.go": "main.go", "/~epoxy": "~epoxy", "/": "",
		"/main.go/": "main.go"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			answer := send(api, http.MethodPut, path, "x", "Accept", "application/json")
			if got := answer.Body.String(); answer.Code != http.StatusOK || !strings.Contains(got, `"title":"`+want+`"`) {
				t.Errorf("got %d %s, want a snippet with the title %q", answer.Code, got, want)
			}
		})
	}
}

func TestPagesAreTagged(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	cfg.Pages = somePages{}
	api, _ := newTestAPI(t, newStore(), cfg)
	etag := request(api, http.MethodGet, "/k2j4x8m1", nil).Header().Get("Etag")
	cached := request(api, http.MethodGet, "/k2j4x8m1", http.Header{"If-None-Match": {etag}})
	if etag == "" || cached.Code != http.StatusNotModified || cached.Body.Len() > 0 {
		t.Errorf("got the ETag %q and then %d, want one and 304", etag, cached.Code)
	}
}

// TestErrorsClearCookies checks that an error page keeps the Set-Cookie that clears a rejected cookie.
func TestErrorsClearCookies(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	cfg.Pages = somePages{}
	api, _ := newTestAPI(t, newStore(), cfg)
	for cookie, want := range map[string]string{"wrong": "seen=1", "right": ""} {
		answer := request(api, http.MethodGet, "/missing", http.Header{"Accept": browser["Accept"], "Cookie": {cookie}})
		if got := answer.Header().Get("Set-Cookie"); answer.Code != http.StatusNotFound || got != want {
			t.Errorf("%s: got %d and the cookie %q, want 404 and %q", cookie, answer.Code, got, want)
		}
	}
}

func TestPagesAreLimited(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	cfg.Pages, cfg.BasePath = somePages{}, "/api/v2"
	cfg.Limits = limit.Config{Rate: 1, Burst: 1}
	api, _ := newTestAPI(t, newStore(), cfg)
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

// TestFormsFromOtherSites sends forms as browsers do from pages of other sites, of this one, and behind proxies.
func TestFormsFromOtherSites(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	cfg.Pages, cfg.TrustedProxies, cfg.PublicURL = somePages{}, []string{"10.0.0.1"}, "http://public.example"
	api, _ := newTestAPI(t, newStore(), cfg)
	const proxied, direct = "10.0.0.1:1000", "192.0.2.1:1000"
	for _, c := range []struct {
		from   string
		header http.Header
		status int
	}{
		{direct, http.Header{"Sec-Fetch-Site": {"cross-site"}, "Origin": {"https://example.org"}}, 403},
		{direct, http.Header{"Sec-Fetch-Site": {"same-site"}, "Origin": {"http://example.com"}}, 403},
		{direct, http.Header{"Origin": {"null"}}, 403},
		{direct, http.Header{"Sec-Fetch-Site": {"same-origin"}, "Origin": {"null"}}, 200},
		{direct, http.Header{"Sec-Fetch-Site": {"cross-site"}, "Origin": {"null"}}, 403},
		{direct, http.Header{"Origin": {"http://example.org"}}, 403},
		{direct, http.Header{"Sec-Fetch-Site": {"same-origin"}, "Origin": {"http://anything"}}, 200},
		{direct, http.Header{"Origin": {"http://example.com"}}, 200},
		{direct, nil, 200}, // no browser
		{direct, http.Header{"Origin": {"http://public.example"}}, 200}, // by way of a proxy that is not trusted
		{direct, http.Header{"Origin": {"https://public.example"}}, 403},
		// A proxy that asks for another host appends the original one to what the client sent.
		{proxied, http.Header{"Origin": {"https://paste.example"}, "X-Forwarded-Host": {"evil.example, paste.example"}}, 200},
		{proxied, http.Header{"Origin": {"https://evil.example"}, "X-Forwarded-Host": {"evil.example, paste.example"}}, 403},
		{proxied, http.Header{"Origin": {"https://other.example"}, "X-Forwarded-Host": {"paste.example"}}, 403},
		{direct, http.Header{"Origin": {"https://paste.example"}, "X-Forwarded-Host": {"paste.example"}}, 403},
	} {
		r := httptest.NewRequest(http.MethodPost, "http://example.com/a/form", strings.NewReader("body"))
		r.RemoteAddr = c.from
		if c.header != nil {
			r.Header = c.header
		}
		r.Header.Set("Accept", "text/html")
		recorder := httptest.NewRecorder()
		api.ServeHTTP(recorder, r)
		want := "page"
		if c.status == http.StatusForbidden {
			want = "error 403 A page of another site sent this request."
		}
		if recorder.Code != c.status || !strings.HasPrefix(recorder.Body.String(), want) {
			t.Errorf("%s %v: got %d %s, want %d %s", c.from, r.Header, recorder.Code, recorder.Body, c.status, want)
		}
	}
}

// TestSessionsAreLimited checks that secrets that pages verify count as the API's tokens do.
func TestSessionsAreLimited(t *testing.T) {
	t.Parallel()
	whole := DefaultConfig()
	whole.Pages, whole.Limits = somePages{}, limit.Config{Rate: 1, Burst: 4, FailedSignIns: 2}
	api, _ := newTestAPI(t, newStore(), whole)
	l := &limitedAPI{API: api, now: time.Unix(1_000_000, 0)}
	api.limits.Now = func() time.Time { return l.now }
	page := func(from, cookie string) func() *httptest.ResponseRecorder {
		return func() *httptest.ResponseRecorder {
			request := httptest.NewRequest(http.MethodGet, "/k2j4x8m1", http.NoBody)
			request.RemoteAddr = from + ":1000"
			if cookie != "" {
				request.Header.Set("Cookie", cookie)
			}
			answer := httptest.NewRecorder()
			l.ServeHTTP(answer, request)
			return answer
		}
	}
	signIn := func(from string) func() *httptest.ResponseRecorder {
		return func() *httptest.ResponseRecorder { return l.ask(http.MethodPost, "/sign-in/form", from+":1000", "") }
	}
	wantStatuses(t, "a cookie that is rejected", []int{200, 200, 429}, page("192.0.2.1", "wrong"))
	wantStatuses(t, "to sign in from there", []int{429}, signIn("192.0.2.1"))
	wantStatuses(t, "a token of the interface from there", []int{429}, func() *httptest.ResponseRecorder {
		return l.ask(http.MethodGet, "/user/self", "192.0.2.1:1000", token.Generate().Reveal())
	})
	wantStatuses(t, "without a cookie from there", []int{200, 200, 429}, page("192.0.2.1", ""))
	wantStatuses(t, "failed sign-ins", []int{401, 401, 429}, signIn("192.0.2.2"))
	// A valid cookie is a client of its own.
	wantStatuses(t, "a valid cookie", []int{200}, page("192.0.2.3", "right"))
	wantStatuses(t, "from where others failed", []int{200, 200, 200, 200, 429}, page("192.0.2.1", "right"))
}

// TestOriginalRequest checks that a page sees the scheme and host that its client used.
func TestOriginalRequest(t *testing.T) {
	t.Parallel()
	proxy := proxies{netip.MustParsePrefix("192.0.2.1/32")} // which httptest's requests come from
	for _, c := range []struct {
		secure, proxied bool
		protos          []string
		want            string
	}{
		{false, false, nil, "http://example.com"},
		{true, false, nil, "https://example.com"},
		{false, false, []string{"https"}, "http://example.com"},
		{false, true, []string{"https"}, "https://paste.example"},
		{false, true, []string{"http, HTTPS"}, "https://paste.example"},
		{false, true, []string{"http", "https"}, "https://paste.example"},
		{false, true, []string{"https, http"}, "http://paste.example"},
		{false, true, []string{"http"}, "http://paste.example"},
		{false, true, nil, "http://paste.example"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/a?b", http.NoBody)
		if c.secure {
			r.TLS = new(tls.ConnectionState)
		}
		r.Header["X-Forwarded-Proto"], r.Header["X-Forwarded-Host"] = c.protos, []string{"paste.example"}
		var trusted proxies
		if c.proxied {
			trusted = proxy
		}
		got, _ := trusted.original(r)
		if origin := got.URL.Scheme + "://" + got.Host; origin != c.want || got.URL.Path != "/a" || r.URL.Scheme != "" {
			t.Errorf("%+v: got %s, path %s, and of the request itself %s, want %s", c, origin, got.URL.Path,
				r.URL.Scheme, c.want)
		}
	}
	for host, want := range map[string]string{
		"evil.example, paste.example": "paste.example", "a/b, paste.example": "paste.example",
		"paste.example, a/b": "example.com",
		"paste.example:8443": "paste.example:8443", "[::1]:80": "[::1]:80", "": "example.com", `a"b`: "example.com",
		"a/b": "example.com",
		"a b": "example.com", "<b>": "example.com", "u@a": "example.com", "a\\b": "example.com", "ä": "example.com",
	} {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		r.Header.Set("X-Forwarded-Host", host)
		if got, _ := proxy.original(r); got.Host != want {
			t.Errorf("%q from a trusted proxy: got the host %q, want %q", host, got.Host, want)
		}
	}
}

// TestSecureAddress sends requests as http although the public URL is https. Pages see https, whatever the proxy says,
// and the log has one warning. Health checks cause none.
func TestSecureAddress(t *testing.T) {
	t.Parallel()
	for public, want := range map[string]string{
		"https://paste.example": "https://example.com", "http://paste.example": "http://example.com",
	} {
		cfg := DefaultConfig()
		cfg.Pages, cfg.PublicURL, cfg.TrustedProxies = echoPages{}, public, []string{"192.0.2.1"}
		api, lines := newTestAPI(t, newStore(), cfg)
		warnings := func() int { return lines.FilterLevelExact(zap.WarnLevel).Len() }
		request(api, http.MethodGet, PathAlive, nil)
		request(api, http.MethodGet, "/k2j4x8m1", http.Header{"X-Forwarded-Proto": {"https"}})
		if n := warnings(); n > 0 {
			t.Errorf("%s: got %d warnings, want none of health checks and https", public, n)
		}
		for range 2 {
			forwarded := http.Header{"Accept": browser["Accept"], "X-Forwarded-Proto": {"http"}}
			answer := request(api, http.MethodGet, "/k2j4x8m1", forwarded)
			if got := answer.Body.String(); got != want {
				t.Errorf("%s: got a request for %s, want %s", public, got, want)
			}
		}
		if n := warnings(); n != strings.Count(public, "https") {
			t.Errorf("%s: got %d warnings, want one for https", public, n)
		}
	}
}

// TestErrorsSeeOriginalRequest checks that error pages see the scheme and host that the client used, on which the name
// of the session's cookie depends.
func TestErrorsSeeOriginalRequest(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	cfg.Pages, cfg.TrustedProxies = echoPages{}, []string{"192.0.2.1"}
	api, _ := newTestAPI(t, newStore(), cfg)
	for _, path := range []string{"/k2j4x8m1", "/a/b/c", "/a%2Fb"} {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header = http.Header{"Accept": browser["Accept"], "X-Forwarded-Proto": {"https"},
			"X-Forwarded-Host": {"paste.example"}}
		answer := httptest.NewRecorder()
		api.ServeHTTP(answer, r)
		if got := answer.Body.String(); answer.Code != http.StatusNotFound || got != "https://paste.example" {
			t.Errorf("%s: got %d %s, want 404 for https://paste.example", path, answer.Code, got)
		}
	}
}

// echoPages has error pages that show the request's scheme and host.
type echoPages struct{ somePages }

func (echoPages) Routes() []route.Page {
	return somePages{func(http.ResponseWriter, *http.Request) (_ user.ID, rejected bool, err error) {
		return "", false, fault.New(fault.NotFound, "not here")
	}}.Routes()
}

func (echoPages) AnswerError(w http.ResponseWriter, r *http.Request, status int, _ string) (rejected bool) {
	w.WriteHeader(status)
	_, _ = io.WriteString(w, r.URL.Scheme+"://"+r.Host)
	return false
}

// TestPagesOfAQuota checks that OnLimited learns of a page that reports an exhausted quota.
func TestPagesOfAQuota(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	cfg.Pages = somePages{refuse}
	var limited []string
	cfg.OnLimited = func(limit string) { limited = append(limited, limit) }
	api, _ := newTestAPI(t, newStore(), cfg)
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	r.Header["Accept"], r.RemoteAddr = browser["Accept"], "[2001:db8:1:2:3:4:5:6]:80"
	answer := httptest.NewRecorder()
	api.ServeHTTP(answer, r)
	if answer.Code != http.StatusTooManyRequests || answer.Body.String() != "for 2001:db8:1:2:3:4:5:6" ||
		len(limited) != 1 ||
		limited[0] != limit.AnonymousPastes {
		t.Errorf("got %d %s, counted as %q, want 429 for the client's address, counted once", answer.Code,
			answer.Body, limited)
	}
}

// refuse is a page that answers everyone with 429.
func refuse(w http.ResponseWriter, r *http.Request) (_ user.ID, rejected bool, err error) {
	w.WriteHeader(http.StatusTooManyRequests)
	_, err = io.WriteString(w, "for "+r.RemoteAddr)
	return "", false, err
}

// streaming is a page that sends its beginning, and waits for a value of next before its end.
func streaming(next chan error) route.Handler {
	return func(w http.ResponseWriter, _ *http.Request) (_ user.ID, rejected bool, err error) {
		w.Header().Set("Content-Type", "application/zip")
		if err := http.NewResponseController(w).Flush(); err != nil {
			return "", false, err
		}
		for range 2 {
			if _, err := io.WriteString(w, strings.Repeat("x", longPage)); err != nil {
				return "", false, err
			}
			if err := <-next; err != nil {
				return "", false, err
			}
		}
		return "", false, nil
	}
}

// TestPagesThatStream reads half of a page before the rest exists, which then arrives or fails.
func TestPagesThatStream(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	next := make(chan error)
	cfg.Pages = somePages{streaming(next)}
	api, lines := newTestAPI(t, newStore(), cfg)
	server := httptest.NewServer(api)
	defer server.Close()
	for _, failure := range []error{nil, fault.New(fault.Unavailable, "half-way")} {
		lines.TakeAll()
		answer, err := http.Get(server.URL + "/k2j4x8m1")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(answer.Body, make([]byte, longPage)); err != nil {
			t.Errorf("got %v, want the first half", err)
		}
		next <- nil
		if _, err := io.CopyN(io.Discard, answer.Body, longPage); err != nil {
			t.Errorf("got %v, want the rest", err)
		}
		next <- failure
		rest, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "application/zip" || len(rest) > 0 ||
			(err == nil) != (failure == nil) {
			t.Errorf("%v: got %d %v, %d bytes more and error %v, want an answer that ends as it should", failure,
				answer.StatusCode,
				answer.Header, len(rest), err)
		}
		if n := lines.FilterLevelExact(zap.ErrorLevel).Len(); (n == 0) != (failure == nil) {
			t.Errorf("%v: got %d errors in the log, want one only for a failure", failure, n)
		}
	}
}

// TestStreamsHoldMemory checks that the source of a stream can claim memory.
func TestStreamsHoldMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		api, _ := newPasteAPI(t, DefaultConfig(), nil)
		other := api.memory.Claim("192.0.2.77")
		other.Force(int64(api.cfg.MaxMemory))
		c, _ := gin.CreateTestContext(httptest.NewRecorder())
		c.Request = httptest.NewRequest(http.MethodGet, "/", nil)
		w := api.newPage(c)
		if err := w.Hold(limit.Uncounted, false); err != nil {
			t.Errorf("a little: got %v, want no error", err)
		}
		if err := w.Hold(longPage, false); !fault.Is(err, fault.Busy) {
			t.Errorf("without waiting: got %v, want fault.Busy", err)
		}
		time.AfterFunc(time.Second, other.Release)
		if err := w.Hold(longPage, true); err != nil {
			t.Errorf("waiting: got %v, want no error", err)
		}
		w.claim.Release()
		wantAllMemory(t, api)
	})
}

// TestUntrustedProxy checks that the log has one warning when an untrusted proxy forwards requests.
func TestUntrustedProxy(t *testing.T) {
	t.Parallel()
	for trusted, want := range map[string]int{"192.0.2.1": 0, "10.0.0.1": 1} {
		cfg := DefaultConfig()
		cfg.TrustedProxies = []string{trusted}
		api, lines := newTestAPI(t, newStore(), cfg)
		for range 2 {
			request(api, http.MethodGet, "/data/numPastes", http.Header{"X-Forwarded-For": {"198.51.100.7"}})
		}
		if got := lines.FilterMessageSnippet("GLUEPOT_HTTP_TRUSTED_PROXIES").Len(); got != want {
			t.Errorf("%s is trusted: got %d warnings, want %d", trusted, got, want)
		}
	}
}
