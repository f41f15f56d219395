package pages

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
)

// issue gives a user an access token.
func (s *site) issue(username string) (id token.ID, secret string) {
	s.t.Helper()
	issued, made, err := s.tokens.Issue.Do(s.t.Context(), username, tokens.IssueInput{Name: "a browser"})
	if err != nil {
		s.t.Fatal(err)
	}
	return issued.ID, made.Reveal()
}

// asking returns a request with the cookie of a session, or with none.
func (s *site) asking(method, path, secret string, form url.Values) *http.Request {
	s.t.Helper()
	r := httptest.NewRequestWithContext(s.t.Context(), method, path, strings.NewReader(form.Encode()))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if secret != "" {
		r.AddCookie(sessionOf(secret))
	}
	return r
}

// sessionOf returns the cookie of a session.
func sessionOf(secret string) *http.Cookie {
	return &http.Cookie{Name: "gluepot-session", Value: secret}
}

// session issues an access token, and begins a session with it.
func (s *site) session(username string) (id token.ID, secret string) {
	s.t.Helper()
	id, access := s.issue(username)
	return id, s.signedIn(access)
}

// signedIn begins a session with an access token.
func (s *site) signedIn(access string) (secret string) {
	s.t.Helper()
	viewer, err := s.tokens.SignIn.Do(s.t.Context(), access)
	if err != nil {
		s.t.Fatal(err)
	}
	made, err := s.tokens.StartSession.Do(s.t.Context(), viewer.User.ID, viewer.Token, "a browser", "")
	if err != nil {
		s.t.Fatal(err)
	}
	return made.Reveal()
}

// as asks for a path with the cookie of a session.
func (s *site) as(secret, path string) (answer *httptest.ResponseRecorder, rejected bool, err error) {
	s.t.Helper()
	answer = httptest.NewRecorder()
	rejected, err = s.respond(answer, s.asking(http.MethodGet, path, secret, nil))
	return answer, rejected, err
}

// TestSession shows a private paste to its owner alone, for as long as the token is valid.
func TestSession(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	epoxy := s.user("Epoxy", false)
	s.user("mortar", true)
	id, own := s.session("epoxy")
	_, others := s.session("mortar")
	private := content(paste.Pasty{Title: "main.go", Language: "Go", Code: "package secret"})
	private.Owner, private.Visibility = epoxy, paste.Private
	s.holds("private0", private)
	public := content(paste.Pasty{Code: "for all"})
	s.holds("public00", public)
	for _, path := range []string{
		"/private0", "/private0/history", "/private0/files.zip", "/private0/download/pasty000", "/private0/raw/pasty000",
	} {
		// The owner comes first, so that what is kept of highlighting is there for who comes next.
		answer, rejected, err := s.as(own, path)
		if err != nil || rejected || answer.Header().Get("Cache-Control") != "private, no-store" {
			t.Errorf("%s: got %v, rejected: %v, %v, want it for its owner, in no cache", path, err, rejected, answer.Header())
		}
		for who, secret := range map[string]string{"nobody": "", "somebody else": others} {
			answer, rejected, err := s.as(secret, path)
			if !fault.Is(err, fault.NotFound) || rejected || answer.Body.Len() > 0 {
				t.Errorf("%s: %s got %v, rejected: %v, %s, want that there is nothing", path, who, err, rejected, answer.Body)
			}
		}
	}
	if answer, _, err := s.as("", "/public00"); err != nil || answer.Header().Get("Cache-Control") != "" {
		t.Errorf("got %v %v, want a page for all", err, answer.Header())
	}

	if err := s.tokens.Revoke.Do(t.Context(), string(id)); err != nil {
		t.Fatal(err)
	}
	if _, rejected, err := s.as(own, "/private0"); !fault.Is(err, fault.NotFound) || !rejected {
		t.Errorf("got %v, rejected: %v, want nothing with a token that is revoked", err, rejected)
	}
	answer, rejected, err := s.as(own, "/public00")
	if err != nil || !rejected || answer.Header().Get("Cache-Control") != "private, no-store" ||
		!strings.Contains(answer.Header().Get("Set-Cookie"), "gluepot-session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax") {
		t.Errorf("got %v, rejected: %v, %v, want the page, and the cookie cleared", err, rejected, answer.Header())
	}
	_, access := s.issue("epoxy")
	before := s.signIn.Rejections()
	for name, value := range map[string]string{
		"made up": "made-up", "an access token": access, "long": strings.Repeat("A", 10_000),
	} {
		r := s.asking(http.MethodGet, "/public00", "", nil)
		r.Header.Set("Cookie", "gluepot-session="+value)
		answer := httptest.NewRecorder()
		if rejected, err := s.respond(answer, r); err != nil || !rejected || answer.Header().Get("Set-Cookie") == "" {
			t.Errorf("%s: got %v, rejected: %v, want the page, and the cookie cleared", name, err, rejected)
		}
		if presented, _ := s.Token(r); presented == "" {
			t.Errorf("%s: got no token, want that one was presented", name)
		}
	}
	if n := s.signIn.Rejections() - before; n != 3 {
		t.Errorf("got %d failed sign-ins, want one for each request", n)
	}
}

// TestSessionOutage has a store that does not answer: that says nothing of the cookie.
func TestSessionOutage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.user("epoxy", true)
	_, secret := s.session("epoxy")
	r := s.asking(http.MethodGet, "/public00", secret, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	answer := httptest.NewRecorder()
	if rejected, err := s.respond(answer, r.WithContext(ctx)); !fault.Is(err, fault.Unavailable) || rejected || len(answer.Header()) > 0 {
		t.Errorf("got %v, rejected: %v, %v, want that it is not available", err, rejected, answer.Header())
	}
	// What all readers share needs no session, and works meanwhile.
	r = s.asking(http.MethodGet, s.assetPath("icon.svg"), secret, nil)
	if _, err := s.respond(httptest.NewRecorder(), r.WithContext(ctx)); err != nil {
		t.Error(err)
	}
	if presented, inBody := s.Token(r); presented != "" || inBody {
		t.Errorf("got a token of %d bytes for what all share, want none", len(presented))
	}
}

// TestSessionCookie goes there and back, over TLS and without.
func TestSessionCookie(t *testing.T) {
	t.Parallel()
	secret := token.Generate().Reveal()
	for scheme, want := range map[string]string{
		"http":  "gluepot-session=%s; Path=/; Max-Age=15552000; HttpOnly; SameSite=Lax",
		"https": "__Host-gluepot-session=%s; Path=/; Max-Age=15552000; HttpOnly; Secure; SameSite=Lax",
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.URL.Scheme = scheme
		answer := httptest.NewRecorder()
		setSession(answer, r, secret)
		got := answer.Header().Get("Set-Cookie")
		if want = fmt.Sprintf(want, secret); got != want {
			t.Errorf("%s: got %s, want %s", scheme, got, want)
		}
		r.Header.Set("Cookie", strings.Split(got, ";")[0])
		if got := cookieSecret(r); got != secret {
			t.Errorf("%s: got %q back, want %q", scheme, got, secret)
		}
		r.URL.Scheme = map[string]string{"http": "https", "https": "http"}[scheme]
		if got := cookieSecret(r); got != "" {
			t.Errorf("got %q of a cookie that was set over %s, want nothing", got, scheme)
		}
	}
}

// readOnly begins a session that may only read.
func (s *site) readOnly(username string) (secret string) {
	s.t.Helper()
	_, access, err := s.tokens.Issue.Do(s.t.Context(), username, tokens.IssueInput{Scope: token.Read})
	if err != nil {
		s.t.Fatal(err)
	}
	return s.signedIn(access.Reveal())
}

// TestReadOnlySession reads what its user may, and sends no form but to sign out.
func TestReadOnlySession(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	epoxy := s.user("Epoxy", false)
	document := content(paste.Pasty{Code: "secret"})
	document.Owner, document.Visibility = epoxy, paste.Private
	s.holds("private0", document)
	secret := s.readOnly("epoxy")
	if answer, _, err := s.as(secret, "/private0"); err != nil || answer.Code != http.StatusOK {
		t.Errorf("got %v, %d, want the paste", err, answer.Code)
	}
	for _, path := range []string{"/", "/private0/edit", "/private0/delete", "/unknown0/delete"} {
		if _, rejected, err := s.post(secret, path, url.Values{"code": {"x"}}); !fault.Is(err, fault.Forbidden) || rejected {
			t.Errorf("%s: got %v, rejected: %v, want that it may not write", path, err, rejected)
		}
	}
	if answer, _, err := s.post(secret, "/sign-out", nil); err != nil || answer.Code != http.StatusSeeOther {
		t.Errorf("got %v, %d, want to be signed out", err, answer.Code)
	}
}

func TestBrowserOf(t *testing.T) {
	t.Parallel()
	for agent, want := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0":                                             "Firefox on Linux",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605 (KHTML, like Gecko) Version/18.5 Safari/604": "Safari on iOS",
		"": "Unknown browser", "\xff\x00": "Unknown browser", strings.Repeat("x", 10_000): "Unknown browser", "\u202ex": "Unknown browser",
	} {
		if got := browserOf(agent); got != want {
			t.Errorf("%.20q: got %q, want %q", agent, got, want)
		}
	}
}

func TestForm(t *testing.T) {
	t.Parallel()
	for body, valid := range map[string]bool{
		"": true, "a=1&b=%C3%BC+x": true, "a=1&a=2&a=3": true, "a=1&b=2&c=3&d=4": false, "&&&": false, "a=%zz": false, "a;b": false,
	} {
		r := &request{Request: httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body))}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=UTF-8")
		fields, err := r.form(3)
		if (err == nil) != valid || err != nil && !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: got %v, %v, want it to be valid: %v", body, fields, err, valid)
		}
		if want := "ü x"; fields.Has("b") && fields.Get("b") != want {
			t.Errorf("%q: got %q, want %q", body, fields.Get("b"), want)
		}
		r.Header.Set("Content-Type", "text/plain")
		if _, err := r.form(3); !fault.Is(err, fault.Invalid) {
			t.Errorf("got %v of plain text, want that it is no form", err)
		}
	}
}

func TestLocalPath(t *testing.T) {
	t.Parallel()
	for path, local := range map[string]bool{
		"/": true, "/pastes?after=1.a": true, "/k2j4x8m1/edit": true, "/a//b": true, "/%2F/evil.example": true, "/?next=//evil.example": true,
		"": false, "//evil.example": false, "///evil.example": false, `/\evil.example`: false, `\\evil.example`: false,
		"https://evil.example/": false, "javascript:alert(1)": false, "evil.example": false, "/\t/evil.example": false,
		"/\n/evil.example": false, "/a\r\nSet-Cookie: a=b": false, " /a": false, "/a b": false, "/ü": false, "/%zz": false,
		"/" + strings.Repeat("a", maxNext): false,
	} {
		want := "/otherwise"
		if local {
			want = path
		}
		if got := localPath(path, "/otherwise"); got != want {
			t.Errorf("%q: got %q, want %q", path, got, want)
		}
	}
}
