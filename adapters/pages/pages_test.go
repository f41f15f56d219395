package pages_test

import (
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/visit"
)

// TestRobots checks that search engines may list public pages, and nothing else.
func TestRobots(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	epoxy := s.User("Epoxy", true)
	for id, visibility := range map[string]paste.Visibility{"public00": paste.Public, "unlisted": paste.Unlisted} {
		document := visit.Content(paste.Pasty{Code: "x"})
		document.Owner, document.Visibility = epoxy, visibility
		s.Holds(id, document)
	}
	for path, want := range map[string]string{
		"/": "", "/public00": "", "/~epoxy": "", "/unlisted": "noindex", "/public00/history": "noindex",
		"/public00/raw/pasty000": "noindex",
		"/sign-in":               "noindex", "/robots.txt": "",
	} {
		answer, err := s.Get(path)
		if err != nil || answer.Header().Get("X-Robots-Tag") != want {
			t.Errorf("%s: got %v and %q, want %q", path, err, answer.Header().Get("X-Robots-Tag"), want)
		}
	}
	if got := s.Page("/robots.txt"); !strings.HasPrefix(got, "User-agent: *\nDisallow: /sign-in\n") {
		t.Errorf("got %q, want rules for crawlers", got)
	}
}
