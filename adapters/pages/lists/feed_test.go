package lists_test

import (
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/pages/lists"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/visit"
)

func TestFeeds(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	cfg := s.Config
	cfg.Recent, cfg.PublicURL = true, "https://paste.example"
	s.Configure(cfg)
	epoxy := s.User("Epoxy", true)
	for id, visibility := range map[string]paste.Visibility{"public00": paste.Public, "unlisted": paste.Unlisted,
		"private0": paste.Private} {
		document := visit.Content(paste.Pasty{Code: "x"})
		document.Owner, document.Title, document.Visibility, document.Tags = epoxy, "<"+id+">\x01", visibility,
			[]string{"secret"}
		document.Edits = []paste.Edit{{ID: "e", At: time.Date(2026, 11, 22, 1, 2, 3, 0, time.UTC)}}
		s.Holds(id, document)
	}
	for path, page := range map[string]string{"/~epoxy/feed.atom": "/~Epoxy", "/recent.atom": "/recent"} {
		answer, err := s.Get(path)
		if err != nil || answer.Header().Get("Content-Type") != "application/atom+xml; charset=utf-8" {
			t.Fatalf("%s: got %v, %v, want a feed", path, err, answer.Header())
		}
		text := answer.Body.String()
		visit.WantNotIn(t, text, "unlisted", "private0", "secret")
		var feed lists.Feed
		if err := xml.Unmarshal([]byte(text), &feed); err != nil {
			t.Fatal(err)
		}
		const link, edited = "https://paste.example/public00", "2026-11-22T01:02:03Z"
		if len(feed.Entries) != 1 || feed.ID != "https://paste.example"+page ||
			feed.Links[0].Href != "https://paste.example"+path ||
			feed.Updated.Format(time.RFC3339) != edited || feed.Author == "" {
			t.Fatalf("%s: got %+v, want the feed of %s with one entry", path, feed, page)
		}
		if got := feed.Entries[0]; got.ID != link || got.Link.Href != link || got.Title != "<public00>\ufffd" ||
			// edits have whole seconds, too
			got.Updated.Format(time.RFC3339) != edited || got.Author != "Epoxy" || got.Published.Nanosecond() != 0 {
			t.Errorf("%s: got %+v, want the public paste", path, got)
		}
		visit.WantIn(t, s.Page(page), `<link rel="alternate" type="application/atom+xml" href="`, "&lt;public00&gt;",
			`<a href="`+strings.Replace(path, "epoxy", "Epoxy", 1)+`">Feed</a>`, `">Recent</a>`)
	}
	const owner = `by <a href="/~Epoxy">Epoxy</a>`
	visit.WantIn(t, s.Page("/recent"), owner)
	visit.WantNotIn(t, s.Page("/~Epoxy"), owner)
	if _, err := s.Get("/~nobody/feed.atom"); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v, want fault.NotFound", err)
	}
	off := visit.New(t)
	visit.WantNotIn(t, off.Page("/"), "/recent")
	if off.Pattern("/recent") == "/recent" || off.Pattern("/recent.atom") == "/recent.atom" {
		t.Error("got a list of recent pastes, want none unless it is on")
	}
}
