package pages

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/gluepot/gluepot/adapters/pages/site"
)

func TestRoutes(t *testing.T) {
	t.Parallel()
	p := &Pages{byPattern: make(map[string]*route)}
	for _, pattern := range []string{"/~/assets/:version/:name", "/~:name", "/:id", "/:id/history", "/:id/download/:pasty"} {
		p.add(site.Route{Pattern: pattern, Get: robots})
	}
	for path, want := range map[string]string{
		"/": "", "/~/assets/1/a.css": "/~/assets/:version/:name",
		"/~epoxy": "/~:name", "/~epoxy/": "/~:name", "/k2j4x8m1": "/:id", "/k2j4x8m1/": "/:id",
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
	for want, r := range map[string]site.Route{
		"GET, HEAD, OPTIONS": {Get: robots}, "POST, OPTIONS": {Post: robots}, "GET, HEAD, POST, OPTIONS": {Get: robots, Post: robots},
	} {
		p.routes[0].Get, p.routes[0].Post = r.Get, r.Post
		if got := p.Routes()[p.routes[0].Pattern]; got != want {
			t.Errorf("got the methods %s, want %s", got, want)
		}
	}
}

// TestNewNamesWhatIsMissing is for a program that embeds pages: a missing module would panic at the first request for
// it.
func TestNewNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	_, err := New(Config{}, Modules{})
	want := "pages.New lacks Modules.Users, Modules.Tokens, Modules.Accounts, Modules.Pastes, Modules.Languages"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
