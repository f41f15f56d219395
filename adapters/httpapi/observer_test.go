package httpapi

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// seen notes how requests were answered, by method and route.
type seen struct {
	mu     sync.Mutex
	active int
	ended  map[string]int // "METHOD ROUTE" -> status of the last
}

type seenRoute struct {
	all  *seen
	name string
}

func (s seenRoute) Began() {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	s.all.active++
}

func (s seenRoute) Ended(status int, took time.Duration) {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	s.all.active--
	if took > 0 {
		s.all.ended[s.name] = status
	}
}

// TestObserve wants each request told of under its route's pattern, whatever path and method a client makes up.
func TestObserve(t *testing.T) {
	t.Parallel()
	all := &seen{ended: make(map[string]int)}
	cfg := DefaultConfig()
	cfg.BasePath = "/api/v2"
	cfg.Observe = func(method, route string) RouteObserver { return seenRoute{all, method + " " + route} }
	api, _ := newTestAPI(t, newStore(), cfg)
	for _, request := range [][2]string{
		{"GET", "/api/v2/user/epoxy/exists"}, {"GET", "/api/v2/data/language/?name=Go"}, {"HEAD", "/healthz"}, {"OPTIONS", "/api/v2/paste"},
		{"DELETE", "/api/v2/data/language"}, {"BREW", "/api/v2/data/language"}, {"GET", "/api/v2/user%2Fself"}, {"PUT", "/nothing"},
	} {
		api.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(request[0], request[1], http.NoBody))
	}
	want := map[string]int{
		"GET /api/v2/user/:username/exists": 200, "GET /api/v2/data/language": 200, "HEAD /healthz": 200, "OPTIONS /api/v2/paste": 204,
		"DELETE ": 405, "other ": 405, "GET ": 404, "PUT ": 404,
	}
	if !maps.Equal(all.ended, want) {
		t.Errorf("got %v, want %v", all.ended, want)
	}
	if all.active != 0 {
		t.Errorf("got %d requests that never ended, want none", all.active)
	}
}

// TestObservePages wants requests for pages to be told of, too, those with a method that the page does not take among them.
func TestObservePages(t *testing.T) {
	t.Parallel()
	all := &seen{ended: make(map[string]int)}
	cfg := DefaultConfig()
	cfg.Pages = somePages{}
	cfg.Observe = func(method, route string) RouteObserver { return seenRoute{all, method + " " + route} }
	api, _ := newTestAPI(t, newStore(), cfg)
	for _, method := range []string{"GET", "DELETE", "BREW"} {
		api.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(method, "/k2j4x8m1", http.NoBody))
	}
	if want := map[string]int{"GET /:id": 200, "DELETE ": 405, "other ": 405}; !maps.Equal(all.ended, want) || all.active != 0 {
		t.Errorf("got %v and %d that never ended, want %v", all.ended, all.active, want)
	}
}
