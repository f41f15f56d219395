package pages

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
)

// post sends a form with the cookie of a session.
func (s *site) post(secret, path string, form url.Values) (answer *httptest.ResponseRecorder, rejected bool, err error) {
	s.t.Helper()
	answer = httptest.NewRecorder()
	rejected, err = s.respond(answer, s.asking(http.MethodPost, path, secret, form))
	return answer, rejected, err
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.user("Epoxy", true)
	id, access := s.issue("epoxy")
	secret := ""
	page := s.page("/sign-in?next=" + url.QueryEscape("/k2j4x8m1/edit?a=b&c"))
	wantIn(t, page, `<label for="token">Access token</label>`, `autocomplete="current-password"`, `gluepot token issue`, "for 30 days",
		`name="next" value="/k2j4x8m1/edit?a=b&amp;c"`, `<form class="form narrow" method="post" action="/sign-in">`)
	for next, want := range map[string]string{
		"": "/pastes", "/k2j4x8m1/edit": "/k2j4x8m1/edit", "//evil.example": "/pastes", "https://evil.example": "/pastes",
	} {
		answer, rejected, err := s.post(secret, "/sign-in", url.Values{"token": {" " + access + "\n"}, "next": {next}})
		header := answer.Header()
		if err != nil || rejected || answer.Code != http.StatusSeeOther || header.Get("Location") != want ||
			header.Get("Cache-Control") != "private, no-store" || answer.Body.Len() > 0 {
			t.Errorf("%q: got %v, rejected: %v, %d %v, want 303 to %s", next, err, rejected, answer.Code, header, want)
		}
		before := secret
		secret, _, _ = strings.Cut(strings.TrimPrefix(header.Get("Set-Cookie"), "gluepot-session="), ";")
		if !token.Genuine(secret) || secret == before || secret == access {
			t.Errorf("got the cookie %s, want that of a new session", header.Get("Set-Cookie"))
		}
		if _, rejected, err := s.as(before, "/~epoxy"); err != nil || rejected != (before != "") {
			t.Errorf("got %v, rejected: %v, want the session ended that this browser had", err, rejected)
		}
	}
	if _, rejected, err := s.post("", "/sign-in", url.Values{"token": {secret}}); err != nil || !rejected {
		t.Errorf("got %v, rejected: %v, want that a session is no access token", err, rejected)
	}
	answer, _, err := s.as(secret, "/sign-in?next=/k2j4x8m1")
	if err != nil || answer.Code != http.StatusSeeOther || answer.Header().Get("Location") != "/k2j4x8m1" {
		t.Errorf("got %v, %d %v, want 303 for who has signed in", err, answer.Code, answer.Header())
	}
	answer, _, err = s.as(secret, "/~epoxy")
	if err != nil || answer.Code != http.StatusOK {
		t.Fatalf("got %v, %d, want a page", err, answer.Code)
	}
	wantIn(t, answer.Body.String(), "Signed in as <b>Epoxy</b>", `href="/pastes"`, `action="/sign-out"`)
	wantIn(t, s.page("/~epoxy"), `<a href="/sign-in?next=%2F~epoxy">Sign in</a>`)

	answer, _, err = s.post(secret, "/sign-out", nil)
	if err != nil || answer.Code != http.StatusSeeOther || answer.Header().Get("Location") != "/" ||
		!strings.HasPrefix(answer.Header().Get("Set-Cookie"), "gluepot-session=; Path=/; Max-Age=0;") {
		t.Errorf("got %v, %d %v, want 303 to / and the cookie cleared", err, answer.Code, answer.Header())
	}
	if _, rejected, err := s.as(secret, "/~epoxy"); err != nil || !rejected {
		t.Errorf("got %v, rejected: %v, want the session ended", err, rejected)
	}
	if _, err := s.tokens.SignIn.Do(t.Context(), access); err != nil {
		t.Errorf("got %v, want the token as valid as before", err)
	}
	if err := s.tokens.Revoke.Do(t.Context(), string(id)); err != nil {
		t.Fatal(err)
	}
	wrongSignIns(t, s, access)
}

// wrongSignIns has a token that is revoked, and others that never were valid: each is a failed sign-in, and no page repeats it.
func wrongSignIns(t *testing.T, s *site, revoked string) {
	t.Helper()
	before := s.signIn.Rejections()
	wrong := []string{revoked, "", "made up", "\x00", strings.Repeat("x", 100_000)}
	for _, secret := range wrong {
		answer, rejected, err := s.post("", "/sign-in", url.Values{"token": {secret}, "next": {"/k2j4x8m1"}})
		page := answer.Body.String()
		if err != nil || !rejected || answer.Code != http.StatusUnauthorized || answer.Header().Get("Set-Cookie") != "" ||
			answer.Header().Get("Cache-Control") != "private, no-store" || answer.Header().Get("WWW-Authenticate") == "" {
			t.Errorf("%.20q: got %v, rejected: %v, %d %v, want 401", secret, err, rejected, answer.Code, answer.Header())
		}
		wantIn(t, page, `role="alert"`, `aria-invalid="true"`, `value="/k2j4x8m1"`)
		if len(secret) > 2 && strings.Contains(page, secret) {
			t.Errorf("got the token in %s, want it nowhere", page)
		}
	}
	if n := s.signIn.Rejections() - before; n != int64(len(wrong)) {
		t.Errorf("got %d failed sign-ins, want %d", n, len(wrong))
	}
	form := s.asking(http.MethodPost, "/sign-in", "x", nil)
	s.Route(form)
	if presented, inBody := s.Token(form); presented != "" || !inBody {
		t.Errorf("got %q, %v, want that a token may be in the body", presented, inBody)
	}
	if _, _, err := s.post("", "/sign-in", url.Values{"token": {"a", "b", "c"}}); !fault.Is(err, fault.Invalid) {
		t.Errorf("got %v, want that the form has too many fields", err)
	}
}

// TestErrorsOfSessions are pages that know of a cookie no more than that there is one.
func TestErrorsOfSessions(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, c := range []struct {
		secret string
		status int
		want   string
	}{
		{"", http.StatusNotFound, `href="/sign-in?next=%2Fk2j4x8m1%3Fa%3Db">Sign in<`}, {"x", http.StatusNotFound, `action="/sign-out"`},
		{"x", http.StatusUnauthorized, `class="button main" href="/sign-in?next=%2Fk2j4x8m1%3Fa%3Db"`},
	} {
		answer := httptest.NewRecorder()
		s.AnswerError(answer, s.asking(http.MethodGet, "/k2j4x8m1?a=b", c.secret, nil), c.status, "Send a valid one in the Authorization header.")
		wantIn(t, answer.Body.String(), c.want)
		if page := answer.Body.String(); strings.Contains(page, "Authorization") {
			t.Errorf("got %s, want what a person can do", page)
		}
	}
}

// TestErrorsElsewhere holds that no error leads to another site.
func TestErrorsElsewhere(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, path := range []string{"//example.org/a", "/" + strings.Repeat("a", maxNext)} {
		r := s.asking(http.MethodGet, "/", "", nil)
		r.URL.Path = path
		answer := httptest.NewRecorder()
		s.AnswerError(answer, r, http.StatusNotFound, "")
		wantIn(t, answer.Body.String(), `href="/sign-in">`)
	}
}

// TestErrorsForPeople has an error after which nobody is signed in any more, and one that HTTP has a name for which is nobody's.
func TestErrorsForPeople(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	answer, asked := httptest.NewRecorder(), s.asking(http.MethodPost, "/", "x", nil)
	setSession(answer, asked, "")
	s.AnswerError(answer, asked, http.StatusRequestEntityTooLarge, "The body is larger than 2097152 bytes.")
	page := answer.Body.String()
	wantIn(t, page, `href="/sign-in">Sign in<`, "This is too long", "Go back, and send less of it.", "2097152 bytes")
	if strings.Contains(page, "Sign out") || strings.Contains(page, "Entity") {
		t.Errorf("got %s, want neither a way to sign out nor the words of HTTP", page)
	}
}

// TestOwnPastes has the pastes of who has signed in on several pages, and those of nobody else.
func TestOwnPastes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	epoxy, mortar := s.user("Epoxy", false), s.user("mortar", true)
	_, secret := s.session("epoxy")
	for i := range pastes.OwnPage + 2 {
		document := content(paste.Pasty{Code: "x"})
		document.Owner, document.Visibility, document.Title = epoxy, paste.Visibility(i%3), "<\u202etitle>"
		document.CreatedAt, document.ExpiresAt = time.UnixMicro(1795282550000000+int64(i/2)).UTC(), time.Date(2099, 1, 2, 3, 4, 0, 0, time.UTC)
		s.holds(fmt.Sprintf("paste%03d", i), document)
	}
	others := content(paste.Pasty{Code: "x"})
	others.Owner = mortar
	s.holds("others00", others)
	count := map[string]int{}
	pages, path := 0, "/pastes"
	for ; path != "" && pages < 5; pages++ {
		answer, _, err := s.as(secret, path)
		if err != nil || answer.Header().Get("Cache-Control") != "private, no-store" {
			t.Fatalf("%s: got %v, %v, want a page in no cache", path, err, answer.Header())
		}
		page := answer.Body.String()
		for _, item := range strings.Split(page, "<li>")[1:] {
			id := item[strings.Index(item, `href="/`)+len(`href="/`):][:len("paste000")]
			count[id]++
			wantIn(t, item, `href="/`+id+`/edit" aria-label="Edit &lt;�title&gt;"`, `href="/`+id+`/delete"`, `data-mark="RLO"`, "2 January 2099")
			for _, visibility := range []string{"public", "private", "unlisted"} {
				if strings.Contains(item, "<span>"+visibility+"</span>") {
					count[visibility]++
				}
			}
		}
		_, next, _ := strings.Cut(page, `class="button" href="/pastes`)
		if next, _, _ = strings.Cut(next, `"`); next != "" {
			next = "/pastes" + next
		}
		path = next
	}
	if pages != 2 || len(count) != pastes.OwnPage+2+3 || count["others00"] != 0 || count["private"] < 17 || count["public"] < 17 {
		t.Errorf("got %v on %d pages, want %d pastes of all kinds on 2", count, pages, pastes.OwnPage+2)
	}
	for what, wrong := range map[string]string{"no token": "", "a token that is not valid": "made up"} {
		answer, rejected, err := s.as(wrong, "/pastes?after=1.a")
		if err != nil || rejected != (wrong != "") || answer.Code != http.StatusSeeOther ||
			answer.Header().Get("Location") != "/sign-in?next=%2Fpastes%3Fafter%3D1.a" {
			t.Errorf("%s: got %v, rejected: %v, %d %v, want to be asked for one", what, err, rejected, answer.Code, answer.Header())
		}
	}
	if answer, _, err := s.as(secret, "/pastes?after=x"); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v %s, want that there is nothing", err, answer.Body)
	}
	_, another := s.session("mortar")
	answer, _, err := s.as(another, "/pastes?after=1.a")
	if err != nil {
		t.Fatal(err)
	}
	wantIn(t, answer.Body.String(), "There are none left.")
}
