package lists_test

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/fake"
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
	pageOf := func(path string) string {
		t.Helper()
		answer, _, err := s.As(secret, path)
		if err != nil || answer.Code != http.StatusOK {
			t.Fatalf("%s: got %v, %d, want a page", path, err, answer.Code)
		}
		return answer.Body.String()
	}
	visit.WantIn(t, pageOf("/pastes"), `<a class="tag" href="/pastes?tag=a%26b"><bdi>a&amp;b</bdi></a>`,
		`href="/pastes?sort=edited"`, `aria-current="true"><b>created</b>`)
	page := pageOf("/pastes?tag=both&sort=title")
	visit.WantIn(t, page, "first000", "second00", `<a href="/pastes?sort=title">show all</a>`,
		`aria-current="true"><b>title</b>`)
	visit.WantNotIn(t, page, "third000")
	visit.WantNotIn(t, pageOf("/pastes?tag=a%26b"), "second00", "third000")
	for _, path := range []string{
		"/pastes?tag=%ff", "/pastes?sort=title&after=%00.x", "/pastes?sort=title&after=a.%ff", "/pastes?sort=edited&after=a",
	} {
		if _, _, err := s.As(secret, path); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: got %v, want fault.NotFound", path, err)
		}
	}

	visit.WantNotIn(t, s.Page("/~epoxy"), "both", "show all")
	visit.WantNotIn(t, s.Page("/~epoxy?tag=both"), "first000", "second00", "third000")
	showTags := true
	if _, err := s.Users.Update.Do(t.Context(), audit.Operator(), "epoxy",
		users.UpdateInput{ShowTags: &showTags}); err != nil {
		t.Fatal(err)
	}
	visit.WantIn(t, s.Page("/~epoxy"), `<a class="tag" href="/~Epoxy?tag=both"><bdi>both</bdi></a>`, "third000")
	profile := s.Page("/~epoxy?tag=both")
	visit.WantIn(t, profile, "first000", "second00", `<a href="/~Epoxy">show all</a>`)
	visit.WantNotIn(t, profile, "third000")
}

// TestListed checks the details of each paste in a list, with hostile values, and the filter by title.
func TestListed(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	epoxy := s.User("Epoxy", true)
	_, s.Secret = s.Session("epoxy")
	hold := func(id, title string, pasties ...paste.Pasty) {
		document := visit.Content(pasties...)
		document.Owner, document.Title, document.Visibility = epoxy, title, paste.Public
		s.Holds(id, document)
	}
	hold("first000", "A <b>title</b>", paste.Pasty{Language: "Go", Code: "\n"},
		paste.Pasty{Language: "CSV", Code: "1\n<2>\n3\n4\n"})
	hold("second00", strings.Repeat("\u202e<i>", 1024),
		paste.Pasty{Language: "<u>", Code: strings.Repeat("<x>\u202e", 1<<10)})
	hold("third000", "", paste.Pasty{Title: "notes.txt", Language: "Plain Text", Code: ""})
	if err := (fake.Pastes{Store: s.Store}).Star(t.Context(), netip.Addr{}, epoxy, "first000"); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/pastes", "/~Epoxy", "/search?q=user:epoxy"} {
		page := s.Page(path)
		visit.WantIn(t, page, "<bdi>Go and 1 more</bdi>", "<span>5 lines</span>", "<span>1 star</span>", "<span>25 B</span>",
			"<code><bdi>1\n&lt;2&gt;\n3</bdi></code>", "<bdi>&lt;u&gt;</bdi>", "<bdi>notes.txt</bdi>")
		visit.WantNotIn(t, page, "<b>title", "<i>", "<u>", "<x>", strings.Repeat("&lt;x&gt;", 60))
	}
	cfg := s.Config
	cfg.Recent = true
	s.Configure(cfg)
	for _, path := range []string{
		"/pastes?title=%3Cb%3ETI", "/~Epoxy?title=%3Cb%3ETI", "/starred?title=%3Cb%3ETI", "/recent?title=%3Cb%3ETI",
	} {
		page := s.Page(path)
		visit.WantIn(t, page, `href="/first000"`, `name="title" value="&lt;b&gt;TI"`, ">Clear</a>")
		visit.WantNotIn(t, page, "second00", "third000")
	}
	visit.WantIn(t, s.Page("/pastes?title=NOTES&sort=title"), `href="/third000"`,
		`<input type="hidden" name="sort" value="title">`,
		`href="/pastes?sort=edited&amp;title=NOTES"`)
	visit.WantIn(t, s.Page("/pastes?title=absent"), "No pastes match.",
		`<a class="button" href="/pastes">Show all pastes</a>`)
	for _, path := range []string{"/starred", "/recent"} {
		visit.WantIn(t, s.Page(path+"?title=absent"), "No pastes match.", `href="`+path+`">Show all pastes</a>`)
	}
	visit.WantIn(t, s.Page("/recent?title=absent"), "This filter covers 10,000 public pastes at a time.")
	visit.WantNotIn(t, s.Page("/recent"), "This filter covers")
	for _, path := range []string{"/pastes?title=%ff", "/~Epoxy?title=%ff", "/starred?title=%ff", "/recent?title=%ff"} {
		if _, err := s.Get(path); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: got %v, want fault.NotFound", path, err)
		}
	}
}
