package account_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/tests/visit"
)

func TestSignIn(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	s.User("Epoxy", true)
	id, access := s.Issue("epoxy")
	secret := ""
	page := s.Page("/sign-in?next=" + url.QueryEscape("/k2j4x8m1/edit?a=b&c"))
	visit.WantIn(t, page, `<label for="token">Access token</label>`, `autocomplete="current-password"`,
		"the operator of this server for your first one.", "for 30 days",
		`name="next" value="/k2j4x8m1/edit?a=b&amp;c"`, `<form class="form narrow" method="post" action="/sign-in">`)
	visit.WantNotIn(t, page, "aria-invalid") // the style sheet marks every field that has it
	for next, want := range map[string]string{
		"": "/pastes", "/k2j4x8m1/edit": "/k2j4x8m1/edit", "//evil.example": "/pastes", "https://evil.example": "/pastes",
	} {
		answer, rejected, err := s.Post(secret, "/sign-in", url.Values{"token": {" " + access + "\n"}, "next": {next}})
		header := answer.Header()
		if err != nil || rejected || answer.Code != http.StatusSeeOther || header.Get("Location") != want ||
			header.Get("Cache-Control") != "private, no-store" || answer.Body.Len() > 0 {
			t.Errorf("%q: got %v, rejected: %v, %d %v, want 303 to %s", next, err, rejected, answer.Code, header, want)
		}
		before := secret
		secret, _, _ = strings.Cut(strings.TrimPrefix(header.Get("Set-Cookie"), "gluepot-session="), ";")
		if !strings.HasPrefix(secret, token.Prefix) || secret == before || secret == access {
			t.Errorf("got the cookie %s, want that of a new session", header.Get("Set-Cookie"))
		}
		if _, rejected, err := s.As(before, "/~epoxy"); err != nil || rejected != (before != "") {
			t.Errorf("got %v, rejected: %v, want the browser's earlier session ended", err, rejected)
		}
	}
	if _, rejected, err := s.Post("", "/sign-in", url.Values{"token": {secret}}); err != nil || !rejected {
		t.Errorf("got %v, rejected: %v, want a session refused as an access token", err, rejected)
	}
	answer, _, err := s.As(secret, "/sign-in?next=/k2j4x8m1")
	if err != nil || answer.Code != http.StatusSeeOther || answer.Header().Get("Location") != "/k2j4x8m1" {
		t.Errorf("got %v, %d %v, want 303 for a user who has signed in", err, answer.Code, answer.Header())
	}
	answer, _, err = s.As(secret, "/~epoxy")
	if err != nil || answer.Code != http.StatusOK {
		t.Fatalf("got %v, %d, want a page", err, answer.Code)
	}
	visit.WantIn(t, answer.Body.String(), "Signed in as <b>Epoxy</b>", `href="/pastes"`, `action="/sign-out"`)
	visit.WantIn(t, s.Page("/~epoxy"), `<a href="/sign-in?next=%2F~epoxy">Sign in</a>`)

	answer, _, err = s.Post(secret, "/sign-out", nil)
	if err != nil || answer.Code != http.StatusSeeOther || answer.Header().Get("Location") != "/" ||
		!strings.HasPrefix(answer.Header().Get("Set-Cookie"), "gluepot-session=; Path=/; Max-Age=0;") {
		t.Errorf("got %v, %d %v, want 303 to / and the cookie cleared", err, answer.Code, answer.Header())
	}
	if _, rejected, err := s.As(secret, "/~epoxy"); err != nil || !rejected {
		t.Errorf("got %v, rejected: %v, want the session ended", err, rejected)
	}
	if _, err := s.Tokens.SignIn.Do(t.Context(), access); err != nil {
		t.Errorf("got %v, want the token as valid as before", err)
	}
	if err := s.Tokens.Revoke.Do(t.Context(), audit.Operator(), string(id)); err != nil {
		t.Fatal(err)
	}
	wrongSignIns(t, s, access)
}

// wrongSignIns sends a revoked token, and others that were never valid. Each is a failed sign-in, and no page shows it.
func wrongSignIns(t *testing.T, s *visit.Site, revoked string) {
	t.Helper()
	before := s.Tokens.SignIn.Rejections()
	wrong := []string{revoked, "", "made up", "\x00", strings.Repeat("x", 100_000)}
	for _, secret := range wrong {
		answer, rejected, err := s.Post("", "/sign-in", url.Values{"token": {secret}, "next": {"/k2j4x8m1"}})
		page := answer.Body.String()
		if err != nil || !rejected || answer.Code != http.StatusUnauthorized || answer.Header().Get("Set-Cookie") != "" ||
			answer.Header().Get("Cache-Control") != "private, no-store" || answer.Header().Get("WWW-Authenticate") == "" {
			t.Errorf("%.20q: got %v, rejected: %v, %d %v, want 401", secret, err, rejected, answer.Code, answer.Header())
		}
		visit.WantIn(t, page, `role="alert"`, `aria-invalid="true"`, `value="/k2j4x8m1"`)
		if len(secret) > 2 && strings.Contains(page, secret) {
			t.Errorf("got the token in %s, want it nowhere", page)
		}
	}
	if n := s.Tokens.SignIn.Rejections() - before; n != int64(len(wrong)) {
		t.Errorf("got %d failed sign-ins, want %d", n, len(wrong))
	}
	form := s.Asking(http.MethodPost, "/sign-in", "x", nil)
	if got, inBody := s.Presents(form); got != "" || !inBody {
		t.Errorf("got %q, %v, want none in the cookie, and true for the body", got, inBody)
	}
}

// TestInvitedWithAnEndedSession checks that an ended session is a failed sign-in, although the invitation is valid.
func TestInvitedWithAnEndedSession(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	_, code, err := s.Modules.Accounts.Invite.Do(t.Context(), audit.Operator(), 1, time.Hour, "")
	if err != nil {
		t.Fatal(err)
	}
	for secret, want := range map[string]bool{"": false, "made up": true} {
		if answer, rejected, err := s.As(secret, "/invite/"+code); err != nil || answer.Code != http.StatusOK ||
			rejected != want {
			t.Errorf("%q: got %v, rejected: %v, %d, want the page, rejected: %v", secret, err, rejected, answer.Code, want)
		}
	}
}
