package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
)

type followedKey struct{}

// follower notes what it is told of requests.
type follower struct{ told []string }

func (f *follower) RequestBegan(ctx context.Context, method, route, scheme string, header http.Header) (context.Context, string) {
	f.told = append(f.told, fmt.Sprintf("%s %s %s %v", method, route, scheme, header != nil))
	return context.WithValue(ctx, followedKey{}, f), "the trace"
}

func (f *follower) RequestEnded(ctx context.Context, status int) {
	f.told = append(f.told, fmt.Sprint(status, ctx.Value(followedKey{}) == f))
}

// TestRequestsAreFollowed wants a tracer to be told of each request but health checks, with the headers of those whom the
// proxies vouch for, and its trace to be in the access log.
func TestRequestsAreFollowed(t *testing.T) {
	t.Parallel()
	told := new(follower)
	cfg := DefaultConfig()
	cfg.Tracer, cfg.TrustedProxies, cfg.Limits.Rate, cfg.Limits.Burst = told, []string{"192.0.2.7"}, 1, 2
	api, lines := newTestAPI(t, newStore(), cfg)
	for _, request := range []struct{ method, path, from string }{
		{"GET", "/user/epoxy/exists/", "192.0.2.7:1"}, {"BREW", "/nothing", "192.0.2.8:1"}, {"GET", "/healthz", "192.0.2.7:1"},
		{"GET", "/data/language?name=Go", "192.0.2.8:1"}, {"GET", "/data/language?name=Go", "192.0.2.8:1"},
	} {
		r := httptest.NewRequest(request.method, request.path, http.NoBody)
		r.RemoteAddr = request.from
		api.ServeHTTP(httptest.NewRecorder(), r)
	}
	want := []string{
		"GET /user/:username/exists http true", "200 true", "other  http false", "404 true",
		"GET /data/language http false", "200 true", "GET /data/language http false", "429 true",
	}
	if !slices.Equal(told.told, want) {
		t.Errorf("got %q, want %q", told.told, want)
	}
	for _, line := range lines.All() {
		traced := line.ContextMap()["route"] != PathAlive
		if id, ok := line.ContextMap()["trace_id"]; ok != traced || traced && id != "the trace" {
			t.Errorf("got %v, want the trace in it: %v", line.ContextMap(), traced)
		}
	}
}

// TestNobodyFollows wants a request to be the same one to the end where there is no tracer.
func TestNobodyFollows(t *testing.T) {
	t.Parallel()
	api, lines := newTestAPI(t, newStore(), DefaultConfig())
	api.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/user/epoxy", http.NoBody))
	if id, ok := lines.All()[0].ContextMap()["trace_id"]; ok || api.tracer != nil {
		t.Errorf("got the trace %v and the tracer %v, want none", id, api.tracer)
	}
}
