package pages

import (
	"net/http"
	"reflect"
	"testing"
	"time"

	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

func TestSelections(t *testing.T) {
	t.Parallel()
	for _, order := range listOrders {
		for _, tag := range []string{"", "two words", "a&b"} {
			wanted := paste.Selection{Order: order.order, Tag: tag}
			last := paste.Listed{EditedAt: time.UnixMicro(2).UTC(), TitleKey: "a.b é"}
			last.ID, last.CreatedAt = "k2j4x8m1", time.UnixMicro(1).UTC()
			for _, selection := range []paste.Selection{wanted, wanted.Next(&last)} {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, listPath("/pastes", selection), nil)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := parseSelection(r.URL.Query()); err != nil || !reflect.DeepEqual(got, selection) {
					t.Errorf("%s: got %+v, %v, want %+v", r.URL, got, err, selection)
				}
			}
		}
	}
}

func TestTagsOfLists(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	epoxy := s.user("Epoxy", true)
	_, secret := s.session("epoxy")
	for id, tags := range map[string][]string{"first000": {"a&b", "both"}, "second00": {"both"}, "third000": nil} {
		document := content(paste.Pasty{Code: "x"})
		document.Owner, document.Title, document.Visibility, document.Tags = epoxy, "Title of "+id, paste.Public, tags
		s.holds(id, document)
	}
	asked := func(path string) string {
		t.Helper()
		answer, _, err := s.as(secret, path)
		if err != nil || answer.Code != http.StatusOK {
			t.Fatalf("%s: got %v, %d, want a page", path, err, answer.Code)
		}
		return answer.Body.String()
	}
	wantIn(t, asked("/pastes"), `<a class="tag" href="/pastes?tag=a%26b"><bdi>a&amp;b</bdi></a>`,
		`href="/pastes?sort=edited"`, `aria-current="true"><b>created</b>`)
	tagged := asked("/pastes?tag=both&sort=title")
	wantIn(t, tagged, "first000", "second00", `<a href="/pastes?sort=title">show all</a>`, `aria-current="true"><b>title</b>`)
	wantNotIn(t, tagged, "third000")
	wantNotIn(t, asked("/pastes?tag=a%26b"), "second00", "third000")
	for _, path := range []string{
		"/pastes?tag=%ff", "/pastes?sort=title&after=%00.x", "/pastes?sort=title&after=a.%ff", "/pastes?sort=edited&after=a",
	} {
		if _, _, err := s.as(secret, path); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: got %v, want nothing there", path, err)
		}
	}

	wantNotIn(t, s.page("/~epoxy"), "both", "show all")
	wantNotIn(t, s.page("/~epoxy?tag=both"), "first000", "second00", "third000")
	shown := true
	if _, err := s.users.Update.Do(t.Context(), "epoxy", users.UpdateInput{ShowTags: &shown}); err != nil {
		t.Fatal(err)
	}
	wantIn(t, s.page("/~epoxy"), `<a class="tag" href="/~Epoxy?tag=both"><bdi>both</bdi></a>`, "third000")
	profile := s.page("/~epoxy?tag=both")
	wantIn(t, profile, "first000", "second00", `<a href="/~Epoxy">show all</a>`)
	wantNotIn(t, profile, "third000")
}
