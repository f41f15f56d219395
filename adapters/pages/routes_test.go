package pages

import (
	"net/http"
	"net/url"
	"testing"
)

func TestRoutes(t *testing.T) {
	t.Parallel()
	p := &Pages{}
	for _, pattern := range []string{"/~/assets/:name", "/~:name", "/:id", "/:id/history", "/:id/download/:pasty"} {
		p.routes = append(p.routes, newRoute(pattern, methods{get: p.asset}))
	}
	for path, want := range map[string]string{
		"/": "", "/~/assets/a.css": "/~/assets/:name", "/~epoxy": "/~:name", "/~epoxy/": "/~:name", "/k2j4x8m1": "/:id", "/k2j4x8m1/": "/:id",
		"/k2j4x8m1/history": "/:id/history", "/a/download/b": "/:id/download/:pasty", "/favicon.ico": "/:id", "/~": "/:id",
		"": "", "//": "", "/k2j4x8m1//": "", "/a/histor": "", "/a/history2": "", "/a/download": "", "/a/download/": "", "/a/download/b/c": "",
		"//history": "", "k2j4x8m1": "",
	} {
		r := &http.Request{URL: &url.URL{Path: path}}
		if got := p.Route(r); got != want || r.Pattern != want {
			t.Errorf("%s: got the route %q, and %q of the request, want %q", path, got, r.Pattern, want)
		}
	}
	r := &http.Request{URL: &url.URL{Path: "/a/download/b/"}}
	if p.Route(r); r.PathValue("id") != "a" || r.PathValue("pasty") != "b" {
		t.Errorf("got the values %q and %q, want a and b", r.PathValue("id"), r.PathValue("pasty"))
	}
	for want, m := range map[string]methods{
		"GET, HEAD, OPTIONS": {get: p.asset}, "POST, OPTIONS": {post: p.asset}, "GET, HEAD, POST, OPTIONS": {get: p.asset, post: p.asset},
	} {
		p.routes[0].methods = m
		if got := p.Routes()[p.routes[0].pattern]; got != want {
			t.Errorf("got the methods %s, want %s", got, want)
		}
	}
}
