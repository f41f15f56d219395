package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
)

// request asks the interface without a network.
func request(api http.Handler, method, target string, header http.Header) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	maps.Copy(r.Header, header)
	recorder := httptest.NewRecorder()
	api.ServeHTTP(recorder, r)
	return recorder
}

func TestClient(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		trusted   []string
		remote    string
		forwarded []string
		client    string
		proxied   bool
	}{
		{nil, "192.0.2.1:1234", []string{"203.0.113.9"}, "192.0.2.1", false},
		{nil, "[2001:db8::1]:1234", nil, "2001:db8::1", false},
		{nil, "@", nil, "@", false}, // a UNIX socket
		{[]string{"fe80::/10"}, "[fe80::1%eth0]:1234", []string{"203.0.113.9"}, "203.0.113.9", true},
		{[]string{"fe80::1"}, "[fe80::1%eth0]:1234", []string{"203.0.113.9, fe80::1%eth1"}, "203.0.113.9", true},
		{[]string{"fe80::1"}, "[fe80::2%eth0]:1234", []string{"203.0.113.9"}, "fe80::2%eth0", false},
		{[]string{"10.0.0.0/8"}, "192.0.2.1:1234", []string{"203.0.113.9"}, "192.0.2.1", false},
		{[]string{"10.0.0.0/8"}, "10.0.0.1:1234", []string{"203.0.113.9"}, "203.0.113.9", true},
		{[]string{"10.0.0.0/8"}, "[::ffff:10.0.0.1]:1234", []string{"203.0.113.9"}, "203.0.113.9", true},
		{[]string{"10.0.0.0/8"}, "10.0.0.1:1234", nil, "10.0.0.1", true},
		{[]string{"10.0.0.0/8"}, "10.0.0.1:1234", []string{"203.0.113.9, 198.51.100.2 ,10.0.0.2"}, "198.51.100.2", true},
		{[]string{"10.0.0.0/8"}, "10.0.0.1:1234", []string{"203.0.113.9", "198.51.100.2"}, "198.51.100.2", true}, // a proxy that adds a line
		{[]string{"10.0.0.0/8"}, "10.0.0.1:1234", []string{"203.0.113.9, x"}, "10.0.0.1", true},
		{[]string{"10.0.0.0/8"}, "10.0.0.1:1234", []string{"10.0.0.3,10.0.0.2"}, "10.0.0.3", true},
		{[]string{"10.0.0.1"}, "10.0.0.1:1234", []string{"2001:db8::2"}, "2001:db8::2", true},
		{[]string{"0.0.0.0/0"}, "10.0.0.1:1234", []string{strings.Repeat("10.0.0.1,", 5000) + "10.0.0.2"}, "10.0.0.1", true},
	} {
		trusted, err := parseProxies(c.trusted)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = c.remote
		r.Header["X-Forwarded-For"], r.Header["X-Real-Ip"] = c.forwarded, []string{"198.51.100.66"}
		if client, proxied := trusted.client(r); client != c.client || proxied != c.proxied {
			t.Errorf("%q by way of %q, trusting %q: %s, %t", c.remote, c.forwarded, c.trusted, client, proxied)
		}
	}
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	direct, _ := newTestAPI(t, newStore(), DefaultConfig())
	cfg := DefaultConfig()
	cfg.TrustedProxies = []string{"192.0.2.1"} // httptest's
	proxied, lines := newTestAPI(t, newStore(), cfg)
	secret := token.Generate().Reveal()
	for _, c := range []struct {
		api  *API
		id   string
		kept bool
	}{
		{direct, "abc-1", false}, {direct, secret, false},
		{proxied, "abc-1", true}, {proxied, secret, false}, {proxied, "x" + secret[:40], false}, {proxied, "", false}, {proxied, "a b", false},
	} {
		answer := request(c.api, http.MethodGet, "/user/epoxy", http.Header{requestIDHeader: {c.id}})
		if got := answer.Header().Get(requestIDHeader); (got == c.id) != c.kept || len(got) == 0 {
			t.Errorf("%q became %q", c.id, got)
		}
	}
	for _, line := range lines.All() {
		if id, _ := line.ContextMap()["request_id"].(string); strings.Contains(id, token.Prefix) {
			t.Errorf("a token is in the log: %v", line)
		}
	}
}

func TestEscapedSlash(t *testing.T) {
	t.Parallel()
	api, lines := newTestAPI(t, newStore(), DefaultConfig())
	for target, status := range map[string]int{
		"/user/epoxy": 200, "/user/%65poxy": 200, "/user/epoxy/": 200, "/data/language?name=Go&x=%2F": 200,
		"/user%2Fepoxy": 404, "/user%2fepoxy": 404, "/user/epoxy%2Fexists": 404, "/user/epoxy%2F": 404, "/%2Fhealthz": 404, "/user/epoxy%252F": 404,
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			answer := request(api, method, target, nil)
			if answer.Code != status || answer.Body.Len() == 0 {
				t.Errorf("%s %s: %d %s", method, target, answer.Code, answer.Body)
			}
		}
	}
	if escaped := lines.FilterField(zap.String("route", "")).Len(); escaped != 10 {
		t.Errorf("%d lines without a route", escaped)
	}
}

func TestHeadersOfEveryAnswer(t *testing.T) {
	t.Parallel()
	api, _ := newTestAPI(t, newStore(), DefaultConfig())
	for _, c := range []struct{ method, target, cacheControl string }{
		{"GET", "/user/epoxy", "no-cache"}, {"GET", "/user/epoxy/exists", "no-cache"}, {"HEAD", "/user/epoxy", "no-cache"},
		{"GET", "/healthz", "no-cache"}, {"GET", "/readyz", "no-cache"},
		{"GET", "/user/self/pastes", "private, no-store"}, {"GET", "/data/language?name=Go", "public, max-age=3600"},
		{"GET", "/nowhere", "no-store"}, {"POST", "/user/epoxy", "no-store"}, {"GET", "/user%2Fepoxy", "no-store"}, {"OPTIONS", "*", "no-store"},
	} {
		header := request(api, c.method, c.target, nil).Header()
		if header.Get("Cache-Control") != c.cacheControl || header.Get("X-Content-Type-Options") != "nosniff" || header.Get("Connection") != "" {
			t.Errorf("%s %s: %v", c.method, c.target, header)
		}
	}
	api.StartDraining()
	for _, target := range []string{"/user/epoxy", "/readyz", "/nowhere", "/data/language?name=Go"} {
		if header := request(api, http.MethodGet, target, nil).Header(); header.Get("Connection") != "close" {
			t.Errorf("%s while draining: %v", target, header)
		}
	}
}

// The store of these tests returns copies, of which the interface has never seen some.
func TestLanguageCopies(t *testing.T) {
	t.Parallel()
	api, _ := newTestAPI(t, newStore(), DefaultConfig())
	etags := map[string]bool{}
	for name, want := range map[string]string{
		"Go":     `{"name":"Go","mode":"go","mimes":["text/x-go"],"ext":["go"],"color":"#00add8"}`,
		"golang": `{"name":"Go","mode":"go","mimes":["text/x-go"],"ext":["go","gox"],"color":"#00add8"}`,
		"Gone":   `{"name":"Gone","mode":"null","mimes":[],"ext":[]}`,
	} {
		answer := request(api, http.MethodGet, "/data/language?name="+name, nil)
		etag := answer.Header().Get("Etag")
		if answer.Code != http.StatusOK || answer.Body.String() != want || etag == "" || etags[etag] {
			t.Errorf("%s: %d %s %s", name, answer.Code, answer.Body, etag)
		}
		etags[etag] = true
		if again := request(api, http.MethodGet, "/data/language?name="+name, http.Header{"If-None-Match": {etag}}); again.Code != http.StatusNotModified {
			t.Errorf("%s again: %d", name, again.Code)
		}
	}
}

// keeper is a host's core that encodes what it was given when it likes.
type keeper struct {
	zapcore.LevelEnabler

	kept *[][]zapcore.Field
}

func (k keeper) With([]zapcore.Field) zapcore.Core { return k }
func (k keeper) Sync() error                       { return nil }
func (k keeper) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	return checked.AddCore(entry, k)
}

func (k keeper) Write(_ zapcore.Entry, fields []zapcore.Field) error {
	*k.kept = append(*k.kept, fields)
	return nil
}

func TestLogFieldsMayBeKept(t *testing.T) {
	t.Parallel()
	var kept [][]zapcore.Field
	s := newStore()
	hooked := 0
	log := zap.New(keeper{zap.DebugLevel, &kept}, zap.Hooks(func(zapcore.Entry) error { hooked++; return nil }))
	api, err := New(DefaultConfig(), s.useCases(), nil, func(context.Context) error { return nil }, log)
	if err != nil {
		t.Fatal(err)
	}
	wanted := []string{"/user/:username", "/user/:username/exists", "/user/self/pastes"}
	for _, path := range []string{"/user/epoxy", "/user/epoxy/exists", "/user/self/pastes"} {
		request(api, http.MethodGet, path, http.Header{"Authorization": {s.secret.Reveal()}})
	}
	if len(kept) != len(wanted) || hooked != len(wanted) {
		t.Fatalf("%d lines, %d calls of the hook", len(kept), hooked)
	}
	for i, fields := range kept {
		encoder := zapcore.NewMapObjectEncoder()
		for _, field := range fields {
			field.AddTo(encoder)
		}
		if encoder.Fields["route"] != wanted[i] {
			t.Errorf("line %d has %v, want the route %s", i, encoder.Fields, wanted[i])
		}
	}
}

// Headers of many elements cost no more than a look at their length.
func TestHeadersOfManyElements(t *testing.T) {
	cfg := DefaultConfig()
	cfg.TrustedProxies = []string{"0.0.0.0/0"}
	api, _ := newTestAPI(t, newStore(), cfg)
	api.log = zap.NewNop()
	many := func(element string) []string { return []string{strings.Repeat(element, 60<<10/len(element))} }
	for name, values := range map[string][]string{
		"Accept": many("a/b;q=0.5,"), "If-None-Match": many(`"x",`), "X-Forwarded-For": many("10.0.0.1,"), "Authorization": many("a "),
		"Cookie": many("a=b;"), requestIDHeader: many("a"),
	} {
		for _, target := range []string{"/data/language?name=Go", "/nowhere"} {
			r := httptest.NewRequest(http.MethodGet, target, nil)
			allocations := func() float64 {
				return testing.AllocsPerRun(10, func() { api.ServeHTTP(nowhere{http.Header{}}, r) })
			}
			plain := allocations()
			r.Header[name] = values
			if got := allocations(); got > plain+20 {
				t.Errorf("%s with %s: %v allocations instead of %v", target, name, got, plain)
			}
		}
	}
	if prefersProblem([]string{mediaProblem + strings.Repeat(",a/b", 400)}) || !prefersProblem([]string{"text/html", mediaProblem}) {
		t.Error("Accept is not read up to 1 KiB")
	}
}

func TestLongAnswers(t *testing.T) {
	for _, ids := range []int{0, 1, 1000, maxHeld/11 - 1, maxHeld / 11, maxHeld/11 + 1, 100_000} {
		s := newStore()
		s.ids = ids
		api, _ := newTestAPI(t, s, DefaultConfig())
		folder := t.TempDir()
		t.Setenv("TMPDIR", folder)
		authorization := http.Header{"Authorization": {s.secret.Reveal()}}
		answer := request(api, http.MethodGet, "/user/self/pastes", authorization)
		if answer.Code != http.StatusOK || answer.Body.String() != s.list() {
			t.Errorf("%d ids: %d, %d bytes, want %d", ids, answer.Code, answer.Body.Len(), len(s.list()))
		}
		length := strconv.Itoa(len(s.list()))
		if got := answer.Header().Get("Content-Length"); got != length && ids >= 1000 {
			t.Errorf("%d ids: the length %q, want %s", ids, got, length)
		}

		// What was collected is not sent when the rest does not come, and nothing is left behind.
		s.failure = fault.New(fault.Unavailable, "away")
		answer = request(api, http.MethodGet, "/user/self/pastes", authorization)
		if answer.Code != http.StatusServiceUnavailable || !json.Valid(answer.Body.Bytes()) {
			t.Errorf("%d ids and a failure: %d %.100s", ids, answer.Code, answer.Body)
		}
		if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
			t.Errorf("%v, %v", left, err)
		}
	}
}

func TestLongAnswersWithoutRoom(t *testing.T) {
	s := newStore()
	s.ids = 100_000
	api, lines := newTestAPI(t, s, DefaultConfig())
	t.Setenv("TMPDIR", t.TempDir()+"/missing")
	authorization := http.Header{"Authorization": {s.secret.Reveal()}}
	answer := request(api, http.MethodGet, "/user/self/pastes", authorization)
	if answer.Code != http.StatusServiceUnavailable || answer.Header().Get("Retry-After") == "" || strings.Contains(answer.Body.String(), "TMPDIR") {
		t.Errorf("%d %v %s", answer.Code, answer.Header(), answer.Body)
	}
	if cause, _ := lines.All()[0].ContextMap()["error"].(string); !strings.Contains(cause, "missing") {
		t.Errorf("the log has %v", lines.All())
	}
	// A HEAD needs none.
	answer = request(api, http.MethodHead, "/user/self/pastes", authorization)
	if answer.Code != http.StatusOK || answer.Header().Get("Content-Length") != strconv.Itoa(len(s.list())) {
		t.Errorf("HEAD: %d %v", answer.Code, answer.Header())
	}
	s.failure = errors.New("x")
	if answer = request(api, http.MethodHead, "/user/self/pastes", authorization); answer.Code != http.StatusInternalServerError {
		t.Errorf("HEAD and a failure: %d", answer.Code)
	}
}
