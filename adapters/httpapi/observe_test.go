package httpapi

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/gin-gonic/gin"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

// recordingCore is an embedder's core that encodes entries later.
type recordingCore struct {
	zapcore.LevelEnabler

	mu    sync.Mutex
	lines []logLine
}

type logLine struct {
	entry  zapcore.Entry
	fields []zapcore.Field // the original slice, not a copy
}

func (k *recordingCore) With([]zapcore.Field) zapcore.Core { return k }
func (k *recordingCore) Sync() error                       { return nil }
func (k *recordingCore) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	return checked.AddCore(entry, k)
}

func (k *recordingCore) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lines = append(k.lines, logLine{entry, fields})
	return nil
}

// TestLogLinesMayBeKept checks that the logger owns entries and fields: after many concurrent requests, each line still
// describes its own.
func TestLogLinesMayBeKept(t *testing.T) {
	t.Parallel()
	const clients, rounds = 8, 50
	type values struct {
		route  string
		status int64
		level  zapcore.Level
	}
	kinds := map[string]values{
		"/user/epoxy":             {"/user/:username", http.StatusOK, zap.InfoLevel},
		"/user/epoxy/exists":      {"/user/:username/exists", http.StatusOK, zap.InfoLevel},
		"/user/self/pastes":       {"/user/self/pastes", http.StatusOK, zap.InfoLevel},
		"/data/language?name=":    {"/data/language", http.StatusBadRequest, zap.InfoLevel},
		"/data/language?name=Go/": {"/data/language", http.StatusNotFound, zap.InfoLevel},
		"/readyz":                 {"/readyz", http.StatusServiceUnavailable, zap.ErrorLevel},
	}
	s := newStore()
	core := &recordingCore{LevelEnabler: zap.DebugLevel}
	hooks := zap.Hooks(func(zapcore.Entry) error { return nil }) // wraps the core
	unready := func(context.Context) error { return errDraining }
	api, err := New(DefaultConfig(), s.modules(), unready, zap.New(core, hooks))
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	want := map[string]values{} // by request id
	var requests sync.WaitGroup
	for range clients {
		requests.Go(func() {
			for range rounds {
				for path, line := range kinds {
					answer := request(api, http.MethodGet, path, http.Header{"Authorization": {s.secret.Reveal()}})
					mu.Lock()
					want[answer.Header().Get(requestIDHeader)] = line
					mu.Unlock()
				}
			}
		})
	}
	requests.Wait()
	if got, want := len(core.lines), clients*rounds*len(kinds); got != want {
		t.Fatalf("got %d lines, want %d", got, want)
	}
	for _, line := range core.lines {
		encoder := zapcore.NewMapObjectEncoder()
		for _, field := range line.fields {
			field.AddTo(encoder)
		}
		id, _ := encoder.Fields["request_id"].(string)
		route, _ := encoder.Fields["route"].(string)
		status, _ := encoder.Fields["status"].(int64)
		got := values{route, status, line.entry.Level}
		if want, ok := want[id]; !ok || got != want || line.entry.Message != "request" {
			t.Errorf("request %s: got %q %+v, want %q %+v", id, line.entry.Message, got, "request", want)
		}
		delete(want, id) // a second line about it would be wrong
	}
}

// observations records the status of requests by method and route.
type observations struct {
	mu       sync.Mutex
	open     int
	statuses map[string]int // "METHOD ROUTE" -> status of the last
}

func (s *observations) begin(method, route string) func(int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open++
	return func(status int) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.open--
		s.statuses[method+" "+route] = status
	}
}

// TestObserve checks that each request is reported with its route's pattern, whatever path and method a client makes
// up.
func TestObserve(t *testing.T) {
	t.Parallel()
	all := &observations{statuses: make(map[string]int)}
	cfg := DefaultConfig()
	cfg.BasePath = "/api/v2"
	cfg.Observe = all.begin
	api, _ := newTestAPI(t, newStore(), cfg)
	for _, request := range [][2]string{
		{"GET", "/api/v2/user/epoxy/exists"}, {"GET", "/api/v2/data/language/?name=Go"}, {"HEAD", "/healthz"},
		{"OPTIONS", "/api/v2/paste"},
		{"DELETE", "/api/v2/data/language"}, {"BREW", "/api/v2/data/language"}, {"GET", "/api/v2/user%2Fself"},
		{"PUT", "/nothing/here"},
	} {
		api.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(request[0], request[1], http.NoBody))
	}
	want := map[string]int{
		"GET /api/v2/user/:username/exists": 200, "GET /api/v2/data/language": 200, "HEAD /healthz": 200,
		"OPTIONS /api/v2/paste":        204,
		"DELETE /api/v2/data/language": 405, "other /api/v2/data/language": 405, "GET ": 404, "PUT ": 404,
	}
	if !maps.Equal(all.statuses, want) {
		t.Errorf("got %v, want %v", all.statuses, want)
	}
	if all.open != 0 {
		t.Errorf("got %d requests that never ended, want none", all.open)
	}
}

// TestObservePages checks that requests for pages are reported, too, even those with a method that the page does not
// take.
func TestObservePages(t *testing.T) {
	t.Parallel()
	all := &observations{statuses: make(map[string]int)}
	cfg := DefaultConfig()
	cfg.Pages = somePages{}
	cfg.Observe = all.begin
	api, _ := newTestAPI(t, newStore(), cfg)
	for _, method := range []string{"GET", "DELETE", "BREW"} {
		api.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(method, "/k2j4x8m1", http.NoBody))
	}
	if want := map[string]int{"GET /:id": 200, "DELETE /:id": 405, "other /:id": 405}; !maps.Equal(all.statuses, want) ||
		all.open != 0 {
		t.Errorf("got %v and %d that never ended, want %v", all.statuses, all.open, want)
	}
}

// TestRequestsAreTraced checks that each request passes the middleware, with the caller's trace only behind a trusted
// proxy, and that the access log has its trace.
func TestRequestsAreTraced(t *testing.T) {
	t.Parallel()
	var traces []string
	cfg := DefaultConfig()
	cfg.TrustedProxies = []string{"192.0.2.7"}
	cfg.Tracing = []gin.HandlerFunc{func(c *gin.Context) {
		c.Set(TraceKey, "the trace")
		c.Next()
		traces = append(traces, fmt.Sprintln(c.Request.Method, Route(c), c.Writer.Status(),
			c.Request.Header.Values("traceparent")))
	}}
	api, lines := newTestAPI(t, newStore(), cfg)
	for _, request := range []struct{ method, path, from, parent string }{
		{"GET", "/user/epoxy/exists/", "192.0.2.7:1", "a caller"},
		{"BREW", "/nothing", "192.0.2.8:1", "a stranger"},
	} {
		r := httptest.NewRequest(request.method, request.path, http.NoBody)
		r.RemoteAddr = request.from
		r.Header.Set("Traceparent", request.parent)
		api.ServeHTTP(httptest.NewRecorder(), r)
	}
	if want := []string{"GET /user/:username/exists 200 [a caller]\n", "other  404 []\n"}; !slices.Equal(traces, want) {
		t.Errorf("got %q, want %q", traces, want)
	}
	for _, line := range lines.All() {
		if id := line.ContextMap()["trace_id"]; id != "the trace" {
			t.Errorf("got %v, want the trace in it", line.ContextMap())
		}
	}
}

// unimplemented is a page that answers 501, as oEmbed does for an unknown format.
func unimplemented(w http.ResponseWriter, _ *http.Request) (_ user.ID, rejected bool, err error) {
	w.WriteHeader(http.StatusNotImplemented)
	return "", false, nil
}

// TestNotImplementedIsNoError checks that a 501, which any visitor can cause, is not logged as an error.
func TestNotImplementedIsNoError(t *testing.T) {
	t.Parallel()
	cfg := DefaultConfig()
	cfg.Pages = somePages{unimplemented}
	api, lines := newTestAPI(t, newStore(), cfg)
	answer := request(api, http.MethodGet, "/k2j4x8m1", browser)
	last := lines.All()[lines.Len()-1]
	if answer.Code != http.StatusNotImplemented || last.Message != "request" || last.Level != zap.InfoLevel {
		t.Errorf("got %d, and %s logged at level %s, want 501 at level info", answer.Code, last.Message, last.Level)
	}
}

// TestLevelsOfUnavailability checks that a 503 that clients cause is a warning with its reason, and one that the
// database causes an error.
func TestLevelsOfUnavailability(t *testing.T) {
	t.Parallel()
	failingPages := func(err error) Pages {
		return somePages{func(http.ResponseWriter, *http.Request) (user.ID, bool, error) { return "", false, err }}
	}
	away := fault.Wrap(fault.Unavailable, "The database does not answer.", context.DeadlineExceeded)
	crowd := fault.Wrap(fault.Busy, "Too many ask.", errors.New("half of the processors are in use"))
	for name, c := range map[string]struct {
		pages  Pages
		method string
		full   bool
		level  zapcore.Level
		reason string
	}{
		"a page of a database that is away": {failingPages(away), http.MethodGet, false, zap.ErrorLevel,
			"context deadline exceeded"},
		"a page for which there is a queue": {failingPages(crowd), http.MethodGet, false, zap.WarnLevel,
			"half of the processors are in use"},
		"a page for which there is no memory": {somePages{}, http.MethodGet, true, zap.WarnLevel,
			"GLUEPOT_HTTP_MAX_MEMORY is used up"},
		"an upload for which there is no memory": {somePages{}, http.MethodPut, true, zap.WarnLevel,
			"GLUEPOT_HTTP_MAX_MEMORY is used up"},
		"a client that has gone": {
			failingPages(fault.Wrap(fault.Busy, "Late.", context.Canceled)), http.MethodGet, false, zap.InfoLevel, "canceled",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				cfg := DefaultConfig()
				cfg.Pages = c.pages
				api, lines := newTestAPI(t, newStore(), cfg)
				if c.full {
					claim := api.memory.Claim("192.0.2.77")
					claim.Force(int64(cfg.MaxMemory))
				}
				answer := send(api, c.method, "/long", strings.Repeat("x", longPage))
				last := lines.All()[lines.Len()-1]
				if answer.Code != http.StatusServiceUnavailable || answer.Header().Get("Retry-After") == "" {
					t.Errorf("got %d %v, want 503 and when to try again", answer.Code, answer.Header())
				}
				if reason := fmt.Sprint(last.ContextMap()["error"]); last.Level != c.level || !strings.Contains(reason, c.reason) {
					t.Errorf("got %s logged at level %s, want %s at %s", reason, last.Level, c.reason, c.level)
				}
			})
		})
	}
}
