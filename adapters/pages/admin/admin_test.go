package admin_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/visit"
	"github.com/gluepot/gluepot/tests/visit/embedded"
)

// newAdminSite returns a site on which an administrator has signed in.
func newAdminSite(t *testing.T) *visit.Site {
	t.Helper()
	s := embedded.New(t)
	s.User("root", false)
	if _, err := s.Users.Update.Do(t.Context(), audit.Operator(), "root",
		users.UpdateInput{Admin: new(true)}); err != nil {
		t.Fatal(err)
	}
	_, s.Secret = s.Session("root")
	return s
}

// createPaste creates a paste of a user, or an anonymous one, and returns its id.
func createPaste(s *visit.Site, owner, title string) string {
	s.T.Helper()
	code := "needle in " + title
	created, err := s.Pastes.Create.Do(
		s.T.Context(),
		audit.Operator(),
		owner,
		paste.Draft{Title: title, Pasties: []paste.PastyDraft{{Code: &code}}},
	)
	if err != nil {
		s.T.Fatal(err)
	}
	return string(created.ID)
}

// wantDone sends a form as a browser does, and checks that it succeeds.
func wantDone(s *visit.Site, path string, form url.Values) {
	s.T.Helper()
	answer, _, err := s.Post(s.Secret, path, form)
	if err != nil || answer.Code != http.StatusSeeOther || answer.Header().Get("Location") != path {
		s.T.Fatalf("%s %v: got %v, %d to %s, want a redirect to the same page", path, form, err, answer.Code,
			answer.Header().Get("Location"))
	}
}

// wantRefused sends a form, and checks that it is refused with a message.
func wantRefused(s *visit.Site, path string, form url.Values) {
	s.T.Helper()
	if _, _, err := s.Post(s.Secret, path, form); !fault.Is(err, fault.Invalid) {
		s.T.Errorf("%s %v: got %v, want fault.Invalid", path, form, err)
	}
}

func pathOf(id user.ID) string { return "/admin/users/" + string(id) }

// TestOthers checks that visitors and users cannot see the pages for administrators.
func TestOthers(t *testing.T) {
	t.Parallel()
	s := embedded.New(t)
	epoxy := s.User("epoxy", true)
	_, user := s.Session("epoxy")
	for _, path := range []string{
		"/admin", "/admin/users", "/admin/users/" + string(epoxy), "/admin/invitations", "/admin/blocks", "/admin/reports",
		"/admin/statistics", "/admin/audit",
	} {
		for _, secret := range []string{"", user, s.ReadOnly("epoxy")} {
			if answer, _, err := s.As(secret, path); !fault.Is(err, fault.NotFound) || answer.Body.Len() > 0 {
				t.Errorf("%s: got %v %s, want fault.NotFound", path, err, answer.Body)
			}
			if _, _, err := s.Post(secret, path, url.Values{}); !fault.Is(err, fault.NotFound) {
				t.Errorf("POST %s: got %v, want fault.NotFound", path, err)
			}
		}
	}
}

func TestPastes(t *testing.T) {
	t.Parallel()
	s := newAdminSite(t)
	epoxy := s.User("epoxy", true)
	owned, anonymous := createPaste(s, "epoxy", "<owned>"), createPaste(s, "", "left here")
	visit.WantIn(t, s.Page("/admin"), "&lt;owned&gt;", ">epoxy</a>", "left here", "anonymous", "Remove "+owned)
	for query, other := range map[string]string{"owner=epoxy": anonymous, "anonymous=on": owned,
		"contains=needle+in+left": owned} {
		page := s.Page("/admin?" + query)
		visit.WantNotIn(t, page, other)
		visit.WantNotIn(t, page, "No pastes match.")
	}
	visit.WantIn(t, s.Page("/admin?owner=nobody"), "There is no such user.", "No pastes match.")

	wantRefused(s, "/admin", url.Values{"do": {"remove"}, "id": {owned}})
	wantDone(s, "/admin", url.Values{"do": {"remove"}, "id": {owned}, "reason": {"spam"}})
	visit.WantNotIn(t, s.Page("/admin"), owned)
	visit.WantIn(t, s.Page("/admin?removed=on"), "removed by root: spam", "Restore "+owned)
	wantDone(s, "/admin", url.Values{"do": {"restore"}, "id": {owned}})
	visit.WantIn(t, s.Page("/admin"), owned)
	wantRefused(s, "/admin", url.Values{"do": {"restore"}, "id": {owned}})

	wantDone(s, pathOf(epoxy), url.Values{"do": {"suspend"}, "reason": {"spam"}, "hide": {"on"}})
	visit.WantNotIn(t, s.Page("/admin"), owned)
	page := s.Page("/admin?removed=on")
	visit.WantNotIn(t, page, "Restore "+owned) // it comes back with its owner
	visit.WantIn(t, page, "<span>suspended</span>")
	wantDone(s, pathOf(epoxy), url.Values{"do": {"unsuspend"}})
	visit.WantIn(t, s.Page("/admin"), owned)
	wantRefused(s, "/admin", url.Values{"do": {"nothing"}})
}

// TestNames checks that a paste without a title has the name of its first snippet, and that the list links only to
// pastes that administrators can read.
func TestNames(t *testing.T) {
	t.Parallel()
	s := newAdminSite(t)
	s.User("epoxy", true)
	code := "x"
	create := func(private bool) string {
		draft := paste.Draft{Private: private, Pasties: []paste.PastyDraft{{Title: "casino.html", Code: &code}}}
		created, err := s.Pastes.Create.Do(s.T.Context(), audit.Operator(), "epoxy", draft)
		if err != nil {
			t.Fatal(err)
		}
		return string(created.ID)
	}
	open, private := create(false), create(true)
	page := s.Page("/admin")
	visit.WantIn(t, page, `href="/`+open+`"`)
	visit.WantNotIn(t, page, `href="/`+private+`"`, "Untitled")
	wantDone(s, "/admin", url.Values{"do": {"remove"}, "id": {open}, "reason": {"spam"}})
	page = s.Page("/admin?removed=on")
	visit.WantIn(t, page, "casino.html")
	visit.WantNotIn(t, page, `href="/`+open+`"`)
}

// TestFurther checks that the list continues on another page, with the same filter.
func TestFurther(t *testing.T) {
	t.Parallel()
	s := newAdminSite(t)
	oldest := createPaste(s, "", "the oldest")
	for range 50 {
		createPaste(s, "", "another")
	}
	page := s.Page("/admin?anonymous=on")
	visit.WantNotIn(t, page, oldest)
	link := regexp.MustCompile(`href="([^"]*)">Older pastes`).FindStringSubmatch(page)
	if link == nil {
		t.Fatalf("got %s, want a link to older ones", page)
	}
	next := s.Page(html.UnescapeString(link[1]))
	visit.WantIn(t, next, oldest, `name="anonymous" checked`)
	visit.WantNotIn(t, next, "another", "Older pastes")
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	s := newAdminSite(t)
	visit.WantIn(t, s.Page("/admin/blocks"), "No network is blocked.")
	wantDone(s, "/admin/blocks", url.Values{"network": {" 192.0.2.0/24 "}, "reason": {"spam & more"}, "days": {"7"}})
	visit.WantIn(t, s.Page("/admin/blocks"), "192.0.2.0/24", "spam &amp; more", "blocked ", "expires ")
	wantRefused(s, "/admin/blocks", url.Values{"network": {"a network"}, "reason": {"spam"}, "days": {"7"}})
	wantRefused(s, "/admin/blocks", url.Values{"network": {"192.0.2.0/24"}, "reason": {"spam"}, "days": {"8"}})
	wantDone(s, "/admin/blocks", url.Values{"remove": {"192.0.2.0/24"}})
	visit.WantIn(t, s.Page("/admin/blocks"), "No network is blocked.")
	wantRefused(s, "/admin/blocks", url.Values{"remove": {"192.0.2.0/24"}})
}

func TestReports(t *testing.T) {
	t.Parallel()
	s := newAdminSite(t)
	visit.WantIn(t, s.Page("/admin/reports"), "There are no open reports.")
	bad, good := createPaste(s, "", "bad"), createPaste(s, "", "good")
	for _, id := range []string{bad, good} {
		answer, _, err := s.Post("", "/"+id+"/report", url.Values{"reason": {"spam"}, "text": {"<look>"}})
		if err != nil || answer.Code != http.StatusSeeOther {
			t.Fatalf("got %v, %d, want the report stored", err, answer.Code)
		}
	}
	page := s.Page("/admin/reports")
	visit.WantIn(t, page, `href="/`+bad+`"`, `href="/`+good+`"`, "&lt;look&gt;", "spam")
	wantRefused(s, "/admin/reports", url.Values{"do": {"close"}, "id": {"unknown"}})
	oldest := regexp.MustCompile(`name="id" value="([^"]*)"`).FindStringSubmatch(page)[1]
	wantDone(s, "/admin/reports", url.Values{"do": {"close"}, "id": {oldest}})
	wantDone(s, "/admin/reports", url.Values{"do": {"remove"}, "paste": {good}, "reason": {"spam"}})
	visit.WantIn(t, s.Page("/admin/reports"), "There are no open reports.")
	visit.WantIn(t, s.Page("/admin?removed=on"), good)
	visit.WantNotIn(t, s.Page("/admin?removed=on"), bad)
}

func TestAudit(t *testing.T) {
	t.Parallel()
	s := newAdminSite(t)
	id := createPaste(s, "", "x")
	wantDone(s, "/admin", url.Values{"do": {"remove"}, "id": {id}, "reason": {"<spam>"}})
	visit.WantIn(t, s.Page("/admin/audit"), "paste.remove "+id, "by root", "reason: &lt;spam&gt;", "user.create root",
		"by operator")

	const entry = "<span>by "
	before := strings.Count(s.Page("/admin/audit"), entry)
	for range 26 {
		wantDone(s, "/admin", url.Values{"do": {"restore"}, "id": {id}})
		wantDone(s, "/admin", url.Values{"do": {"remove"}, "id": {id}, "reason": {"again"}})
	}
	page := s.Page("/admin/audit")
	first := strings.Count(page, entry)
	visit.WantNotIn(t, page, "&lt;spam&gt;")
	link := regexp.MustCompile(`href="([^"]*)">Older entries`).FindStringSubmatch(page)
	if link == nil {
		t.Fatalf("got %s, want a link to older entries", page)
	}
	page = s.Page(html.UnescapeString(link[1]))
	visit.WantIn(t, page, "&lt;spam&gt;", "user.create root")
	visit.WantNotIn(t, page, "Older entries")
	if rest := strings.Count(page, entry); first != 50 || rest != before+2*26-first {
		t.Errorf("got %d entries and %d, want 50 and the rest of %d", first, rest, before+2*26)
	}
}
