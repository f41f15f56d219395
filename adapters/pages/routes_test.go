package pages_test

import (
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/pages"
	"github.com/gluepot/gluepot/tests/visit"
)

// TestRoutes checks which page gin's router finds for a path.
func TestRoutes(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	for path, want := range map[string]string{
		"/": "/", "/~/assets/1/a.css": "/~/assets/:version/:name",
		"/~epoxy": "/~:name", "/~epoxy/": "/~:name", "/~epoxy/feed.atom": "/~:name/feed.atom", "/k2j4x8m1": "/:id",
		"/k2j4x8m1/": "/:id", "/k2j4x8m1.txt": "/:id", "/k2j4x8m1/history": "/:id/history",
		"/a/download/b":          "/:id/download/:pasty",
		"/a/download/b/original": "/:id/download/:pasty/:edit",
		"/favicon.ico":           "/:id", "/~": "/:id", "/~epoxy/history": "/:id/history",
		"/sign-in/history": "/sign-in/:provider",
		"/account/history": "/:id/history", "/account/tokens": "/account/tokens",
		"": "", "/k2j4x8m1//": "", "/a/histor": "", "/a/history2": "", "/a/download": "", "/a/download/": "",
		"/a/download/b/c/d": "", "k2j4x8m1": "",
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			if got := s.Pattern(path); got != want {
				t.Errorf("got the pattern %q, want %q", got, want)
			}
		})
	}
}

// TestEveryIDIsRouted checks that no id begins like another page's path, from which gin does not always go back to a
// parameter.
func TestEveryIDIsRouted(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	ids := make(map[string]bool)
	for _, page := range s.Routes() {
		first, _, _ := strings.Cut(strings.TrimPrefix(page.Path, "/"), "/")
		for n := range min(len(first), 8) + 1 {
			ids[first[:n]+"zzzzzzzz"[n:]] = true
		}
	}
	for id := range ids {
		if strings.Trim(id, "0123456789abcdefghijklmnopqrstuvwxyz") != "" {
			continue
		}
		for below, want := range map[string]string{
			"": "/:id", "/": "/:id", ".txt": "/:id", "/history": "/:id/history", "/history/": "/:id/history",
			"/raw/a/b": "/:id/raw/:pasty/:edit",
		} {
			if got := s.Pattern("/" + id + below); got != want {
				t.Errorf("/%s%s: got the pattern %q, want %q", id, below, got, want)
			}
		}
	}
	if len(ids) < 50 {
		t.Errorf("got %d ids, want those of all pages", len(ids))
	}
}

// TestNewNamesWhatIsMissing is for programs that embed the pages: without the check, a missing module would panic at
// the first request for it.
func TestNewNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	_, err := pages.New(pages.Config{}, pages.Modules{})
	want := "pages.New lacks Modules.Users, Modules.Tokens, Modules.Accounts, Modules.Pastes, Modules.Languages"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
