package admin_test

import (
	"fmt"
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
	"github.com/gluepot/gluepot/tests/visit"
)

// wantAnswer sends a form, and returns the page that answers it.
func wantAnswer(s *visit.Site, status int, path string, form url.Values) string {
	s.T.Helper()
	answer, _, err := s.Post(s.Secret, path, form)
	if err != nil || answer.Code != status {
		s.T.Fatalf("%s %v: got %v, %d, want a page with %d", path, form, err, answer.Code, status)
	}
	return answer.Body.String()
}

// hrefOf returns the address of a link with that text.
func hrefOf(t *testing.T, page, text string) string {
	t.Helper()
	link := regexp.MustCompile(`href="([^"]*)">` + text).FindStringSubmatch(page)
	if link == nil {
		t.Fatalf("got %s, want a link %q", page, text)
	}
	return html.UnescapeString(link[1])
}

func TestUsers(t *testing.T) {
	t.Parallel()
	s := newAdminSite(t)
	visit.WantIn(t, s.Page("/admin/users"), ">root</a>", "<span>administrator</span>", "0 pastes", "0 B",
		`aria-current="page">Users</a>`)
	epoxy := s.User("Epoxy", true)
	createPaste(s, "epoxy", "one")
	visit.WantIn(t, s.Page("/admin/users?order=bytes"), `href="`+pathOf(epoxy)+`"`, "1 paste<", `value="bytes" selected`)
	for query, other := range map[string]string{
		"name=POX": ">root</a>", "name=" + string(epoxy): ">root</a>", "admins=on": ">Epoxy</a>",
	} {
		page := s.Page("/admin/users?" + query)
		visit.WantNotIn(t, page, other, "No users match.")
	}
	visit.WantIn(t, s.Page("/admin/users?suspended=on"), "No users match.", `name="suspended" checked`)
	visit.WantIn(t, s.Page("/admin/users?name=%25"), "No users match.")
	visit.WantIn(t, s.Page("/admin/users?name=%ff"), "Search for a part of a username, or a user id, of at most 64 "+
		"printable bytes.")
	for _, query := range []string{
		"order=age", "after=x", "after=1.", "after=1.Upper", "after=99999999999999999999.a", "after=9223372036854775807.a",
	} {
		if _, _, err := s.As(s.Secret, "/admin/users?"+query); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: got %v, want fault.NotFound", query, err)
		}
	}
	if _, _, err := s.As(s.Secret, "/admin/users/unknown"); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v for an unknown user, want fault.NotFound", err)
	}
}

// TestMoreUsers checks that the list of users continues on another page, in each order and with the same filter.
func TestMoreUsers(t *testing.T) {
	t.Parallel()
	s := newAdminSite(t)
	for n := range 52 {
		s.User(fmt.Sprintf("user-%02d", n), false)
	}
	createPaste(s, "user-07", "one")
	firsts := map[string]string{"": "user-00", "used": "user-00", "pastes": "user-07", "bytes": "user-07"}
	for order, first := range firsts {
		page := s.Page("/admin/users?name=user&order=" + order)
		rest := s.Page(hrefOf(t, page, "More users"))
		match := regexp.MustCompile(`href="/admin/users/[^"]+">([^<]*)`).FindStringSubmatch(page)
		if match == nil || match[1] != first {
			t.Errorf("by %q: got %v first, want %s", order, match, first)
		}
		for n := range 52 {
			link := fmt.Sprintf(">user-%02d</a>", n)
			if strings.Count(page+rest, link) != 1 {
				t.Errorf("by %q: got %d of %s, want 1", order, strings.Count(page+rest, link), link)
			}
		}
		visit.WantNotIn(t, rest, "More users", ">root</a>")
	}
}

// TestUser lets an administrator do everything that can be done to a user.
func TestUser(t *testing.T) {
	t.Parallel()
	s := newAdminSite(t)
	epoxy := s.User("epoxy", true)
	path := pathOf(epoxy)
	unlisted, private := createPaste(s, "epoxy", "one"), privateOf(s, "epoxy")
	s.Session("epoxy")
	visit.WantIn(t, s.Page(path), "<h1>epoxy</h1>", "2 pastes", "1 access token<", "1 session<", "Suspend epoxy",
		"Delete epoxy",
		`href="/admin?owner=id%3A`+string(epoxy)+`"`, `href="/~epoxy"`)

	wantDone(s, path, url.Values{"do": {"sign-out"}})
	visit.WantIn(t, s.Page(path), "0 sessions")
	wantDone(s, path, url.Values{"do": {"make-admin"}})
	visit.WantIn(t, s.Page(path), "<span>administrator</span>", "Remove administrator rights of epoxy")
	wantDone(s, path, url.Values{"do": {"unmake-admin"}})
	visit.WantNotIn(t, s.Page(path), "<span>administrator</span>")

	blank := url.Values{"do": {"suspend"}, "reason": {" "}}
	visit.WantIn(t, wantAnswer(s, http.StatusBadRequest, path, blank), "Give a reason")
	wantDone(s, path, url.Values{"do": {"suspend"}, "reason": {" spam "}, "hide": {"on"}})
	visit.WantIn(t, s.Page(path), "<span>suspended</span>", "<span>pastes hidden</span>", "End the suspension")
	wantDone(s, path, url.Values{"do": {"unsuspend"}})
	visit.WantIn(t, wantAnswer(s, http.StatusBadRequest, path, url.Values{"do": {"unsuspend"}}), "not suspended")

	for _, name := range []string{"", "root", "epox"} {
		form := url.Values{"do": {"delete"}, "name": {name}, "pastes": {"delete"}}
		visit.WantIn(t, wantAnswer(s, http.StatusBadRequest, path, form), "This is not the username.")
	}
	wantRefused(s, "/admin", url.Values{"do": {"delete"}})
	wantAnswer(s, http.StatusBadRequest, path, url.Values{"do": {"delete"}, "name": {"epoxy"}})
	answer, _, err := s.Post(s.Secret, path, url.Values{"do": {"delete"}, "name": {"Epoxy"}, "pastes": {"anonymous"}})
	if err != nil || answer.Code != http.StatusSeeOther || answer.Header().Get("Location") != "/admin/users" {
		t.Fatalf("got %v, %d to %s, want the user deleted", err, answer.Code, answer.Header().Get("Location"))
	}
	visit.WantNotIn(t, s.Page("/admin/users"), "epoxy")
	page := s.Page("/admin?anonymous=on")
	visit.WantIn(t, page, unlisted)
	visit.WantNotIn(t, page, private)
	for _, form := range []url.Values{
		{"do": {"make-admin"}}, {"do": {"sign-out"}}, {"do": {"suspend"}, "reason": {"spam"}},
	} {
		wantRefused(s, path, form)
	}
	log := s.Page("/admin/audit")
	for _, act := range []string{"make-admin", "unmake-admin", "suspend", "unsuspend", "sign-out", "delete"} {
		visit.WantIn(t, log, "user."+act+" epoxy ("+string(epoxy)+")")
	}
	if got, want := strings.Count(log, "by root"), 6; got != want {
		t.Errorf("got %d acts of the administrator in the log, want %d", got, want)
	}
}

// privateOf creates a private paste of a user.
func privateOf(s *visit.Site, owner string) string {
	s.T.Helper()
	code := "x"
	draft := paste.Draft{Private: true, Pasties: []paste.PastyDraft{{Code: &code}}}
	created, err := s.Pastes.Create.Do(s.T.Context(), audit.Operator(), owner, draft)
	if err != nil {
		s.T.Fatal(err)
	}
	return string(created.ID)
}

// TestOwnAccount checks that administrators cannot lock themselves out.
func TestOwnAccount(t *testing.T) {
	t.Parallel()
	s := newAdminSite(t)
	page := s.Page("/admin/users?name=root")
	path := hrefOf(t, page, "root")
	page = s.Page(path)
	visit.WantIn(t, page, "This is your own account.")
	visit.WantNotIn(t, page, `name="do"`)
	for _, form := range []url.Values{
		{"do": {"unmake-admin"}}, {"do": {"suspend"}, "reason": {"spam"}},
		{"do": {"delete"}, "name": {"root"}, "pastes": {"delete"}},
	} {
		visit.WantIn(t, wantAnswer(s, http.StatusBadRequest, path, form), "This is your own account")
	}
	visit.WantIn(t, s.Page(path), "<span>administrator</span>")
}

// TestFormerAdministrator sends a form of a page that was opened when its sender was still an administrator.
func TestFormerAdministrator(t *testing.T) {
	t.Parallel()
	s := newAdminSite(t)
	epoxy := s.User("epoxy", true)
	s.Page(pathOf(epoxy))
	if _, err := s.Users.Update.Do(t.Context(), audit.Operator(), "root",
		users.UpdateInput{Admin: new(false)}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Post(s.Secret, pathOf(epoxy), url.Values{"do": {"make-admin"}}); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v, want fault.NotFound", err)
	}
}

// TestResetLink creates a link as an administrator. It is shown once, on the page of its user.
func TestResetLink(t *testing.T) {
	t.Parallel()
	s := newAdminSite(t)
	epoxy, mortar := s.User("epoxy", true), s.User("mortar", true)
	path, reset := pathOf(epoxy), url.Values{"do": {"reset"}}
	visit.WantIn(t, s.Page(path), "Create a reset link for epoxy")
	createLink := func() *http.Cookie {
		t.Helper()
		answer, _, err := s.Post(s.Secret, path, reset)
		if err != nil || answer.Code != http.StatusSeeOther || answer.Header().Get("Location") != path ||
			len(answer.Result().Cookies()) != 1 {
			t.Fatalf("got %v, %d %v, want a redirect to the user with a cookie", err, answer.Code, answer.Header())
		}
		return answer.Result().Cookies()[0]
	}
	pageWith := func(path string, cookie *http.Cookie) string {
		t.Helper()
		r := s.Asking(http.MethodGet, path, s.Secret, nil)
		r.AddCookie(cookie)
		answer, err := s.Answers(r)
		if err != nil {
			t.Fatal(err)
		}
		return answer.Body.String()
	}
	cookie := createLink()
	if !cookie.HttpOnly || cookie.Path != path || cookie.SameSite != http.SameSiteStrictMode {
		t.Errorf("got %+v, want it for that page alone", cookie)
	}
	link := regexp.MustCompile(`id="made" value="[^"]*://example.com(/reset/[^"]+)"`)
	match := link.FindStringSubmatch(pageWith(path, cookie))
	if match == nil {
		t.Fatalf("got %s, want the link", pageWith(path, cookie))
	}
	visit.WantNotIn(t, s.Page(path), "/reset/")
	visit.WantNotIn(t, pageWith(pathOf(mortar), cookie), "/reset/")
	visit.WantIn(t, s.Page("/admin/audit"), "user.reset epoxy ("+string(epoxy)+")", "by root")

	const password = "tulip river stone"
	form := url.Values{"password": {password}, "again": {password}}
	answer, _, err := s.Post("", match[1], form)
	if err != nil || answer.Code != http.StatusSeeOther {
		t.Fatalf("got %v, %d, want the password set", err, answer.Code)
	}
	visit.WantNotIn(t, pageWith(path, cookie), "/reset/")
	if _, _, err := s.Post("", match[1], form); !fault.Is(err, fault.Forbidden) {
		t.Errorf("got %v for a second use, want fault.Forbidden", err)
	}

	wantDone(s, path, url.Values{"do": {"suspend"}, "reason": {"spam"}})
	visit.WantNotIn(t, s.Page(path), "reset link")
}

func TestInvitations(t *testing.T) {
	t.Parallel()
	s := newAdminSite(t)
	const path = "/admin/invitations"
	visit.WantIn(t, s.Page(path), "No invitations.")
	answer, _, err := s.Post(s.Secret, path, url.Values{"note": {"<the team>"}, "uses": {"5"}, "days": {"7"}})
	if err != nil || answer.Code != http.StatusSeeOther || len(answer.Result().Cookies()) != 1 {
		t.Fatalf("got %v, %d %v, want a redirect to the list with a cookie", err, answer.Code, answer.Header())
	}
	r := s.Asking(http.MethodGet, path, "", nil)
	r.AddCookie(answer.Result().Cookies()[0])
	if answer, err = s.Answers(r); err != nil {
		t.Fatal(err)
	}
	page := answer.Body.String()
	if set := answer.Result().Cookies(); len(set) != 1 || set[0].MaxAge >= 0 {
		t.Errorf("got the cookies %v, want that of the link cleared", set)
	}
	visit.WantIn(t, page, "&lt;the team&gt;", "5 uses left", "not shown again")
	link := regexp.MustCompile(`id="made" value="[^"]*://example.com(/invite/[^"]+)"`).FindStringSubmatch(page)
	if link == nil {
		t.Fatalf("got %s, want the link", page)
	}
	visit.WantIn(t, s.Page(link[1]), "&lt;the team&gt;")
	page = s.Page(path)
	visit.WantNotIn(t, page, link[1])
	for _, form := range []url.Values{
		{"uses": {"0"}, "days": {"7"}}, {"uses": {"10001"}, "days": {"7"}}, {"uses": {"1"}, "days": {"1"}, "note": {"\x00"}},
	} {
		visit.WantIn(t, wantAnswer(s, http.StatusBadRequest, path, form), `role="alert"`)
	}
	for _, form := range []url.Values{
		{"uses": {"x"}, "days": {"7"}}, {"uses": {"1"}, "days": {"8"}}, {"uses": {"1"}, "days": {""}},
	} {
		wantRefused(s, path, form)
	}
	visit.WantIn(t, s.Page(path+"?find=TEAM"), "the team")
	visit.WantIn(t, s.Page(path+"?find=nothing"), "No invitations.", `value="nothing"`)
	id := regexp.MustCompile(`name="revoke" value="([^"]+)"`).FindStringSubmatch(page)[1]
	visit.WantIn(t, s.Page(path+"?find="+id), "the team")
	wantDone(s, path+"?find=team", url.Values{"revoke": {id}})
	wantRefused(s, path, url.Values{"revoke": {id}})
	visit.WantIn(t, s.Page(path), "No invitations.")
	visit.WantIn(t, s.Page("/admin/audit"), "invite.create "+id, "invite.revoke "+id, "by root")

	for n := range 52 {
		wantDone(s, path, url.Values{"note": {fmt.Sprintf("batch %02d", n)}, "uses": {"1"}, "days": {"1"}})
	}
	page = s.Page(path + "?find=batch")
	rest := s.Page(hrefOf(t, page, "Older invitations"))
	visit.WantIn(t, page, "batch 51", "batch 02")
	visit.WantIn(t, rest, "batch 01", "batch 00")
	visit.WantNotIn(t, page, "batch 01")
	visit.WantNotIn(t, rest, "batch 02", "Older invitations")
}

func TestStatistics(t *testing.T) {
	t.Parallel()
	s := newAdminSite(t)
	visit.WantIn(t, s.Page("/admin/statistics"), "No user has pastes.")
	s.User("epoxy", true)
	createPaste(s, "epoxy", "one")
	page := s.Page("/admin/statistics")
	visit.WantIn(t, page, `href="/admin/users?name=epoxy"`, `<th scope="row">Users</th><td class="number">2</td>`,
		`<th scope="row">Pastes</th><td class="number">1</td>`)
	if days := strings.Count(page, `<th scope="row">20`); days != 30 {
		t.Errorf("got %d days, want 30", days)
	}
}

// TestFilters filters pastes by everything that 'gluepot paste list' can filter by.
func TestFilters(t *testing.T) {
	t.Parallel()
	s := newAdminSite(t)
	s.User("epoxy", true)
	code := strings.Repeat("package main\n", 100)
	large, err := s.Pastes.Create.Do(t.Context(), audit.Operator(), "epoxy", paste.Draft{
		Title: "large", Pasties: []paste.PastyDraft{{Title: "main.go", Language: new("Go"), Code: &code}},
	})
	if err != nil {
		t.Fatal(err)
	}
	one, other := string(large.ID), createPaste(s, "", "small")
	if _, _, err := s.Post("", "/"+one+"/report", url.Values{"reason": {"spam"}}); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{
		"title=main.go", "title=+large+", "language=golang", "language=.go", "larger-than=1kB", "reported=on", "owner=epoxy",
		"since=1h&larger-than=1kB&language=Go&title=large&contains=package&owner=epoxy&reported=on",
	} {
		page := s.Page("/admin?" + query)
		visit.WantIn(t, page, "Remove "+one)
		visit.WantNotIn(t, page, "Remove "+other, `role="alert"`)
	}
	for _, query := range []string{"until=1h", "until=2001-02-03", "since=2999-01-01", "title=Large", "larger-than=1GB"} {
		visit.WantIn(t, s.Page("/admin?"+query), "No pastes match.")
	}
	for query, problem := range map[string]string{
		"since=yesterday":          "Give a time such as 24h, 7d, 2024-02-29 or 2024-02-29T12:30:00Z.",
		"until=1":                  "Give a time such as",
		"larger-than=much":         "Give a size such as 500kB, 1MB or 1MiB.",
		"language=none+such":       "There is no language &#34;none such&#34;.",
		"anonymous=on&owner=epoxy": "but not both",
		"reported=on&removed=on":   "but not both",
	} {
		page := s.Page("/admin?" + query)
		visit.WantIn(t, page, problem, `role="alert"`, "No pastes match.")
	}
	visit.WantIn(t, s.Page("/admin?since=%3Ch&title=%22t"), `value="&lt;h"`, `value="&#34;t"`)
}
