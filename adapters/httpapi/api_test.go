package httpapi

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// request sends a request to a handler without a network.
func request(api http.Handler, method, target string, header http.Header) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	maps.Copy(r.Header, header)
	recorder := httptest.NewRecorder()
	api.ServeHTTP(recorder, r)
	return recorder
}

func TestEscapedSlash(t *testing.T) {
	t.Parallel()
	api, lines := newTestAPI(t, newStore(), DefaultConfig())
	for target, status := range map[string]int{
		"/user/epoxy": 200, "/user/%65poxy": 200, "/user/epoxy/": 200, "/data/language?name=Go&x=%2F": 200,
		"/user%2Fepoxy": 404, "/user%2fepoxy": 404, "/user/epoxy%2Fexists": 404, "/user/epoxy%2F": 404,
		"/%2Fhealthz": 404, "/user/epoxy%252F": 404,
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			answer := request(api, method, target, nil)
			if answer.Code != status || answer.Body.Len() == 0 && method == http.MethodGet {
				t.Errorf("%s %s: got %d %s, want %d and a body", method, target, answer.Code, answer.Body, status)
			}
		}
	}
	if n := lines.FilterField(zap.String("route", "")).Len(); n != 10 {
		t.Errorf("got %d lines without a route, want 10", n)
	}
}

func TestHeadersOfEveryAnswer(t *testing.T) {
	t.Parallel()
	api, _ := newTestAPI(t, newStore(), DefaultConfig())
	for _, c := range []struct{ method, target, cacheControl string }{
		{"GET", "/user/epoxy", "no-cache"}, {"GET", "/user/epoxy/exists", "no-cache"}, {"HEAD", "/user/epoxy", "no-cache"},
		{"GET", "/healthz", "no-cache"}, {"GET", "/readyz", "no-cache"},
		{"GET", "/user/self/pastes", "private, no-store"}, {"GET", "/data/language?name=Go", "public, max-age=3600"},
		{"GET", "/openapi.yaml", "no-cache"}, {"GET", "/openapi.json", "no-cache"},
		{"GET", "/nowhere", "no-store"}, {"POST", "/user/epoxy", "no-store"}, {"GET", "/user%2Fepoxy", "no-store"},
		{"OPTIONS", "*", "no-store"},
	} {
		header := request(api, c.method, c.target, nil).Header()
		if header.Get("Cache-Control") != c.cacheControl || header.Get("X-Content-Type-Options") != "nosniff" ||
			header.Get("Content-Security-Policy") != "default-src 'none'; frame-ancestors 'none'" ||
			header.Get("Referrer-Policy") != "no-referrer" || header.Get("Connection") != "" {
			t.Errorf("%s %s: got %v, want Cache-Control: %s, nosniff, the two policies and no Connection", c.method,
				c.target, header,
				c.cacheControl)
		}
	}
	api.StartDraining()
	for _, target := range []string{"/user/epoxy", "/readyz", "/nowhere", "/data/language?name=Go"} {
		if header := request(api, http.MethodGet, target, nil).Header(); header.Get("Connection") != "close" {
			t.Errorf("%s while draining: got %v, want Connection: close", target, header)
		}
	}
}

func newTestAPI(t *testing.T, s *store, cfg Config) (*API, *observer.ObservedLogs) {
	t.Helper()
	core, lines := observer.New(zap.DebugLevel)
	api, err := New(cfg, s.modules(), func(context.Context) error { return nil }, zap.New(core))
	if err != nil {
		t.Fatal(err)
	}
	return api, lines
}
