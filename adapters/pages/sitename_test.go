package pages_test

import (
	"testing"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/visit"
)

// TestSiteName checks that pages, feeds and previews have the operator's name of the service, escaped.
func TestSiteName(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	s.Holds("k2j4x8m1", visit.Content(paste.Pasty{Title: "main.go", Language: "Go", Code: "package main\n"}))
	s.Configure(site.Config{SiteName: "Ann & Bob's", Recent: true, PublicURL: "https://paste.example"})
	for path, want := range map[string][]string{
		"/": {"<title>Ann &amp; Bob&#39;s</title>", "Ann &amp; Bob&#39;s</a>",
			"Ann &amp; Bob&#39;s stores code snippets"},
		"/k2j4x8m1": {"<title>A title · Ann &amp; Bob&#39;s</title>",
			`<meta property="og:site_name" content="Ann &amp; Bob&#39;s">`},
		"/k2j4x8m1/embed": {"<title>A title · Ann &amp; Bob&#39;s</title>"},
		"/recent.atom":    {"<title>Ann &amp; Bob&#39;s: recent pastes</title>", "<name>Ann &amp; Bob&#39;s</name>"},
		"/oembed?url=https%3A%2F%2Fpaste.example%2Fk2j4x8m1": {`"provider_name":"Ann`},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			page := s.Page(path)
			visit.WantIn(t, page, want...)
			visit.WantNotIn(t, page, "Gluepot")
		})
	}
}
