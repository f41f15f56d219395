package lists_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/visit"
)

func TestProfile(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	epoxy, mortar := s.User("Epoxy", true), s.User("mortar", false)
	s.User("empty", true)
	for i := range 120 {
		document := visit.Content(paste.Pasty{Code: "x"})
		document.Owner, document.Visibility, document.Title = epoxy, paste.Public, fmt.Sprintf("<title %d>", i)
		document.CreatedAt = time.UnixMicro(int64(i/2) - 20).UTC() // the second page ends before 1970
		s.Holds(fmt.Sprintf("paste%03d", i), document)
	}
	hidden := visit.Content(paste.Pasty{Code: "x"})
	hidden.Owner, hidden.Title = epoxy, "not listed"
	s.Holds("hidden00", hidden)
	hidden.Owner, hidden.Visibility = mortar, paste.Public
	s.Holds("hidden01", hidden)

	pages, seen := 0, map[string]bool{}
	for path := "/~epoxy"; path != ""; pages++ {
		page := s.Page(path)
		visit.WantIn(t, page, "<h1>Epoxy</h1>")
		for _, rest := range strings.Split(page, `<li><a href="/`)[1:] {
			id, _, _ := strings.Cut(rest, `"`)
			if seen[id] || !strings.Contains(rest, "&lt;title ") {
				t.Errorf("got %s twice, or without its title, want each once", id)
			}
			seen[id] = true
		}
		_, next, _ := strings.Cut(page, `class="button" href="`)
		path, _, _ = strings.Cut(next, `"`)
	}
	if len(seen) != 120 || pages != 3 || seen["hidden00"] {
		t.Errorf("got %d pastes on %d pages, want 120 on 3", len(seen), pages)
	}
	visit.WantIn(t, s.Page("/~empty"), "No pastes yet.")
	for _, path := range []string{
		"/~mortar", "/~nobody", "/~self", "/~a%20b", "/~epoxy?after=x", "/~epoxy?after=1.",
		"/~epoxy?after=" + url.QueryEscape("9223372036854775807.a"),
		"/~epoxy?after=" + url.QueryEscape("-9223372036854775808.a"),
	} {
		if answer, err := s.Get(path); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: got %v %s, want fault.NotFound", path, err, answer.Body)
		}
	}
	visit.WantIn(t, s.Page("/paste000"), `by <a href="/~Epoxy">Epoxy</a>`)
	if page := s.Page("/hidden01"); strings.Contains(page, "mortar") {
		t.Errorf("got %s, want no name of a private profile", page)
	}
}
