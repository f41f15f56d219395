package httpapi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
)

// TestRequestsAreTraced wants each request but health checks to go through the middleware, with the trace of those whom the
// proxies vouch for, and its own trace to be in the access log.
func TestRequestsAreTraced(t *testing.T) {
	t.Parallel()
	var seen []string
	cfg := DefaultConfig()
	cfg.TrustedProxies = []string{"192.0.2.7"}
	cfg.Tracing = []gin.HandlerFunc{func(c *gin.Context) {
		c.Set(TraceKey, "the trace")
		c.Next()
		header := c.Request.Header
		seen = append(seen, fmt.Sprintln(Route(c), c.Writer.Status(), header.Values("traceparent"), header.Values("tracestate")))
	}}
	api, lines := newTestAPI(t, newStore(), cfg)
	for _, request := range []struct {
		method, path, from string
		parents            []string
		state              string
	}{
		{"GET", "/user/epoxy/exists/", "192.0.2.7:1", []string{"a caller"}, "a=1"},
		{"GET", "/user/epoxy/exists", "192.0.2.7:1", []string{"a caller", "another"}, strings.Repeat("x", maxTraceState+1)},
		{"BREW", "/nothing", "192.0.2.8:1", []string{"a stranger"}, ""},
		{"GET", "/healthz", "192.0.2.7:1", nil, ""},
	} {
		r := httptest.NewRequest(request.method, request.path, http.NoBody)
		r.RemoteAddr = request.from
		r.Header["Traceparent"] = request.parents
		if request.state != "" {
			r.Header.Set("Tracestate", request.state)
		}
		api.ServeHTTP(httptest.NewRecorder(), r)
	}
	want := []string{
		"/user/:username/exists 200 [a caller] [a=1]\n", "/user/:username/exists 200 [] []\n", " 404 [] []\n",
	}
	if !slices.Equal(seen, want) {
		t.Errorf("got %q, want %q", seen, want)
	}
	for _, line := range lines.All() {
		traced := line.ContextMap()["route"] != PathAlive
		if id, ok := line.ContextMap()["trace_id"]; ok != traced || traced && id != "the trace" {
			t.Errorf("got %v, want the trace in it: %v", line.ContextMap(), traced)
		}
	}
}
