package pages

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// user creates one and returns the id.
func (s *site) user(name string, public bool) user.ID {
	s.t.Helper()
	made, err := s.users.Create.Do(s.t.Context(), users.CreateInput{Name: name, PublicProfile: public})
	if err != nil {
		s.t.Fatal(err)
	}
	return made.ID
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	for _, at := range []int64{minMicros, -1, 0, 1795282550000001, maxMicros} {
		place := paste.Place{CreatedAt: time.UnixMicro(at).UTC(), ID: "k2j4x8m1"}
		if got, err := parsePlace(formatPlace(place)); err != nil || got != place {
			t.Errorf("got %v, %v, want %v", got, err, place)
		}
	}
}

func TestProfile(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	epoxy, mortar := s.user("Epoxy", true), s.user("mortar", false)
	s.user("empty", true)
	for i := range 120 {
		document := content(paste.Pasty{Code: "x"})
		document.Owner, document.Visibility, document.Title = epoxy, paste.Public, fmt.Sprintf("<title %d>", i)
		document.CreatedAt = time.UnixMicro(int64(i/2) - 20).UTC() // the second page ends before 1970
		s.holds(fmt.Sprintf("paste%03d", i), document)
	}
	hidden := content(paste.Pasty{Code: "x"})
	hidden.Owner, hidden.Title = epoxy, "not listed"
	s.holds("hidden00", hidden)
	hidden.Owner, hidden.Visibility = mortar, paste.Public
	s.holds("hidden01", hidden)

	pages, seen := 0, map[string]bool{}
	for path := "/~epoxy"; path != ""; pages++ {
		page := s.page(path)
		wantIn(t, page, "<h1>Epoxy</h1>")
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
	wantIn(t, s.page("/~empty"), "There are none.")
	for _, path := range []string{
		"/~mortar", "/~nobody", "/~self", "/~a%20b", "/~epoxy?after=x", "/~epoxy?after=1.",
		"/~epoxy?after=" + url.QueryEscape("9223372036854775807.a"), "/~epoxy?after=" + url.QueryEscape("-9223372036854775808.a"),
	} {
		if answer, err := s.get(path); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: got %v %s, want that there is nothing", path, err, answer.Body)
		}
	}
	wantIn(t, s.page("/paste000"), `by <a href="/~Epoxy">Epoxy</a>`)
	if page := s.page("/hidden01"); strings.Contains(page, "mortar") {
		t.Errorf("got %s, want nobody named whose profile is private", page)
	}
}
