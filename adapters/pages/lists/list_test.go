package lists_test

import (
	"net/http"
	"testing"

	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/visit"
)

func TestTagsOfLists(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	epoxy := s.User("Epoxy", true)
	_, secret := s.Session("epoxy")
	for id, tags := range map[string][]string{"first000": {"a&b", "both"}, "second00": {"both"}, "third000": nil} {
		document := visit.Content(paste.Pasty{Code: "x"})
		document.Owner, document.Title, document.Visibility, document.Tags = epoxy, "Title of "+id, paste.Public, tags
		s.Holds(id, document)
	}
	asked := func(path string) string {
		t.Helper()
		answer, _, err := s.As(secret, path)
		if err != nil || answer.Code != http.StatusOK {
			t.Fatalf("%s: got %v, %d, want a page", path, err, answer.Code)
		}
		return answer.Body.String()
	}
	visit.WantIn(t, asked("/pastes"), `<a class="tag" href="/pastes?tag=a%26b"><bdi>a&amp;b</bdi></a>`,
		`href="/pastes?sort=edited"`, `aria-current="true"><b>created</b>`)
	tagged := asked("/pastes?tag=both&sort=title")
	visit.WantIn(t, tagged, "first000", "second00", `<a href="/pastes?sort=title">show all</a>`, `aria-current="true"><b>title</b>`)
	visit.WantNotIn(t, tagged, "third000")
	visit.WantNotIn(t, asked("/pastes?tag=a%26b"), "second00", "third000")
	for _, path := range []string{
		"/pastes?tag=%ff", "/pastes?sort=title&after=%00.x", "/pastes?sort=title&after=a.%ff", "/pastes?sort=edited&after=a",
	} {
		if _, _, err := s.As(secret, path); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: got %v, want nothing there", path, err)
		}
	}

	visit.WantNotIn(t, s.Page("/~epoxy"), "both", "show all")
	visit.WantNotIn(t, s.Page("/~epoxy?tag=both"), "first000", "second00", "third000")
	shown := true
	if _, err := s.Users.Update.Do(t.Context(), "epoxy", users.UpdateInput{ShowTags: &shown}); err != nil {
		t.Fatal(err)
	}
	visit.WantIn(t, s.Page("/~epoxy"), `<a class="tag" href="/~Epoxy?tag=both"><bdi>both</bdi></a>`, "third000")
	profile := s.Page("/~epoxy?tag=both")
	visit.WantIn(t, profile, "first000", "second00", `<a href="/~Epoxy">show all</a>`)
	visit.WantNotIn(t, profile, "third000")
}
