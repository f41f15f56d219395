package pages

import "testing"

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
		if got := p.Route(path); got != want {
			t.Errorf("%s: got the route %q, want %q", path, got, want)
		}
	}
	if _, parameters := p.find("/a/download/b/"); len(parameters) != 2 || parameters[0] != "a" || parameters[1] != "b" {
		t.Errorf("got the parameters %q, want a and b", parameters)
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
