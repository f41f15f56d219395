package pages_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/tests/visit"
)

// TestSession checks that only the owner sees a private paste, as long as the token is valid.
func TestSession(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	epoxy := s.User("Epoxy", false)
	s.User("mortar", true)
	id, own := s.Session("epoxy")
	_, others := s.Session("mortar")
	private := visit.Content(paste.Pasty{Title: "main.go", Language: "Go", Code: "package secret"})
	private.Owner, private.Visibility = epoxy, paste.Private
	s.Holds("private0", private)
	public := visit.Content(paste.Pasty{Code: "for all"})
	s.Holds("public00", public)
	for _, path := range []string{
		"/private0", "/private0/history", "/private0/files.zip", "/private0/download/pasty000", "/private0/raw/pasty000",
	} {
		// The owner comes first, so that the highlighting is cached for the next reader.
		answer, rejected, err := s.As(own, path)
		if err != nil || rejected || answer.Header().Get("Cache-Control") != "private, no-store" {
			t.Errorf("%s: got %v, rejected: %v, %v, want it for its owner, in no cache", path, err, rejected, answer.Header())
		}
		for who, secret := range map[string]string{"nobody": "", "somebody else": others} {
			answer, rejected, err := s.As(secret, path)
			if !fault.Is(err, fault.NotFound) || rejected || answer.Body.Len() > 0 {
				t.Errorf("%s: %s got %v, rejected: %v, %s, want fault.NotFound", path, who, err, rejected, answer.Body)
			}
		}
	}
	if answer, _, err := s.As("", "/public00"); err != nil || answer.Header().Get("Cache-Control") != "" {
		t.Errorf("got %v %v, want a page for all", err, answer.Header())
	}

	if err := s.Tokens.Revoke.Do(t.Context(), audit.Operator(), string(id)); err != nil {
		t.Fatal(err)
	}
	if _, rejected, err := s.As(own, "/private0"); !fault.Is(err, fault.NotFound) || !rejected {
		t.Errorf("got %v, rejected: %v, want fault.NotFound with a revoked token", err, rejected)
	}
	answer, rejected, err := s.As(own, "/public00")
	if err != nil || !rejected || answer.Header().Get("Cache-Control") != "private, no-store" ||
		!strings.Contains(answer.Header().Get("Set-Cookie"), "gluepot-session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax") {
		t.Errorf("got %v, rejected: %v, %v, want the page, and the cookie cleared", err, rejected, answer.Header())
	}
	_, access := s.Issue("epoxy")
	before := s.Tokens.SignIn.Rejections()
	for name, value := range map[string]string{
		"made up": "made-up", "an access token": access, "long": strings.Repeat("A", 10_000),
	} {
		r := s.Asking(http.MethodGet, "/public00", "", nil)
		r.Header.Set("Cookie", "gluepot-session="+value)
		answer := httptest.NewRecorder()
		if rejected, err := s.Respond(answer, r); err != nil || !rejected || answer.Header().Get("Set-Cookie") == "" {
			t.Errorf("%s: got %v, rejected: %v, want the page, and the cookie cleared", name, err, rejected)
		}
		if got, _ := s.Presents(r); got == "" {
			t.Errorf("%s: got no token, want the value of the cookie", name)
		}
	}
	if n := s.Tokens.SignIn.Rejections() - before; n != 3 {
		t.Errorf("got %d failed sign-ins, want one for each request", n)
	}
}

// TestSessionOutage checks that an outage of the store does not clear the cookie.
func TestSessionOutage(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	s.User("epoxy", true)
	_, secret := s.Session("epoxy")
	r := s.Asking(http.MethodGet, "/public00", secret, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	answer := httptest.NewRecorder()
	if rejected, err := s.Respond(answer, r.WithContext(ctx)); !fault.Is(err, fault.Unavailable) || rejected ||
		len(answer.Header()) > 0 {
		t.Errorf("got %v, rejected: %v, %v, want fault.Unavailable", err, rejected, answer.Header())
	}
	// What all readers share needs no session, and works during an outage.
	r = s.Asking(http.MethodGet, site.AssetPath("icon.svg"), secret, nil)
	if _, err := s.Respond(httptest.NewRecorder(), r.WithContext(ctx)); err != nil {
		t.Error(err)
	}
	if got, inBody := s.Presents(r); got != "" || inBody {
		t.Errorf("got a token of %d bytes for what all share, want none", len(got))
	}
}

// TestSessionCookie sets and reads the cookie, over TLS and without.
func TestSessionCookie(t *testing.T) {
	t.Parallel()
	secret := token.Generate().Reveal()
	for at, want := range map[string]string{
		"http:/":       "gluepot-session=%s; Path=/; Max-Age=15552000; HttpOnly; SameSite=Lax",
		"https:/":      "__Host-gluepot-session=%s; Path=/; Max-Age=15552000; HttpOnly; Secure; SameSite=Lax",
		"http:/paste":  "gluepot-session=%s; Path=/paste; Max-Age=15552000; HttpOnly; SameSite=Lax",
		"https:/paste": "__Secure-gluepot-session=%s; Path=/paste; Max-Age=15552000; HttpOnly; Secure; SameSite=Lax",
	} {
		scheme, mount, _ := strings.Cut(at, ":")
		r := &site.Request{Request: httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil),
			Mount: strings.TrimSuffix(mount, "/")}
		r.URL.Scheme = scheme
		answer := httptest.NewRecorder()
		site.SetSession(answer, r, secret)
		got := answer.Header().Get("Set-Cookie")
		if want = fmt.Sprintf(want, secret); got != want {
			t.Errorf("%s: got %s, want %s", scheme, got, want)
		}
		r.Header.Set("Cookie", strings.Split(got, ";")[0])
		if got := site.CookieSecret(r); got != secret {
			t.Errorf("%s: got %q back, want %q", scheme, got, secret)
		}
		r.URL.Scheme = map[string]string{"http": "https", "https": "http"}[scheme]
		if got := site.CookieSecret(r); got != "" {
			t.Errorf("got %q of a cookie that was set over %s, want nothing", got, scheme)
		}
	}
}

// TestReadOnlySession checks that such a session can read everything that its user may, and send no form except to sign
// out.
func TestReadOnlySession(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	epoxy := s.User("Epoxy", false)
	document := visit.Content(paste.Pasty{Code: "secret"})
	document.Owner, document.Visibility = epoxy, paste.Private
	s.Holds("private0", document)
	secret := s.ReadOnly("epoxy")
	if answer, _, err := s.As(secret, "/private0"); err != nil || answer.Code != http.StatusOK {
		t.Errorf("got %v, %d, want the paste", err, answer.Code)
	}
	for _, path := range []string{"/", "/private0/edit", "/private0/delete", "/unknown0/delete"} {
		if _, rejected, err := s.Post(secret, path, url.Values{"code": {"x"}}); !fault.Is(err, fault.Forbidden) || rejected {
			t.Errorf("%s: got %v, rejected: %v, want fault.Forbidden", path, err, rejected)
		}
	}
	if answer, _, err := s.Post(secret, "/sign-out", nil); err != nil || answer.Code != http.StatusSeeOther {
		t.Errorf("got %v, %d, want a redirect", err, answer.Code)
	}
}
