package account_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/tests/fake"
	"github.com/gluepot/gluepot/tests/visit"
)

// TestAccountTokens creates a token, which is shown once, and revokes another.
func TestAccountTokens(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	s.User("Epoxy", true)
	s.User("mortar", true)
	parent, secret := s.Session("epoxy")
	others, _ := s.Session("mortar")
	answer, _, err := s.Post(secret, "/account/tokens", url.Values{"name": {"laptop"}, "scope": {"read"}, "days": {"7"}})
	if err != nil {
		t.Fatal(err)
	}
	if answer.Code != http.StatusSeeOther || len(answer.Result().Cookies()) != 1 {
		t.Fatalf("got %d %v, want a redirect to the list with a cookie", answer.Code, answer.Header())
	}
	once := answer.Result().Cookies()[0]
	list := func(session string, cookies ...*http.Cookie) *httptest.ResponseRecorder {
		t.Helper()
		r := s.Asking(http.MethodGet, "/account/tokens", session, nil)
		for _, cookie := range cookies {
			r.AddCookie(cookie)
		}
		answer, err := s.Answers(r)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	_, stranger := s.Session("mortar")
	visit.WantNotIn(t, list(stranger, once).Body.String(), `id="made"`)
	answer = list(secret, once)
	_, created, _ := strings.Cut(answer.Body.String(), `id="made" value="`)
	created, _, _ = strings.Cut(created, `"`)
	if cookies := answer.Result().Cookies(); len(cookies) != 1 || cookies[0].Name != once.Name || cookies[0].MaxAge >= 0 {
		t.Errorf("got the cookies %v, want %s cleared", cookies, once.Name)
	}
	viewer, err := s.Tokens.SignIn.Do(t.Context(), created)
	if err != nil || viewer.Token.Scope != token.Read ||
		viewer.Token.ExpiresAt.Sub(viewer.Token.CreatedAt) != 7*24*time.Hour ||
		answer.Header().Get("Cache-Control") != "private, no-store" {
		t.Errorf("got %+v, %v, %v, want a token that reads for a week", viewer.Token, err, answer.Header())
	}
	answer, _, err = s.As(secret, "/account/tokens")
	if err != nil || strings.Contains(answer.Body.String(), created) {
		t.Errorf("got %v, %s, want the secret shown once", err, answer.Body)
	}
	visit.WantIn(t, answer.Body.String(), "<b>laptop</b>", "<span>read-only</span>", "never used", "<b>a browser</b>",
		`aria-current="page">Access tokens</a>`,
		`value="`+string(parent)+`"`)
	for what, form := range map[string]url.Values{
		"scope": {"name": {"x"}, "scope": {"admin"}, "days": {"7"}},
		"days":  {"name": {"x"}, "scope": {"read"}, "days": {"-1"}}, "nothing": {},
	} {
		if _, _, err := s.Post(secret, "/account/tokens", form); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: got %v, want it refused", what, err)
		}
	}
	answer, _, err = s.Post(secret, "/account/tokens",
		url.Values{"name": {strings.Repeat("x", 65)}, "scope": {"read"}, "days": {"7"}})
	if err != nil || answer.Code != http.StatusBadRequest {
		t.Errorf("got %v, %d, want the form again", err, answer.Code)
	}
	visit.WantIn(t, answer.Body.String(), `role="alert"`, "at most 64 bytes")
	if _, _, err := s.Post(secret, "/account/tokens", url.Values{"revoke": {string(others)}}); !fault.Is(err,
		fault.NotFound) {
		t.Errorf("got %v, want fault.NotFound for another user's token", err)
	}
	revoke := url.Values{"revoke": {string(parent)}}
	if answer, _, err := s.Post(secret, "/account/tokens", revoke); err != nil || answer.Code != http.StatusSeeOther {
		t.Errorf("got %v, %d, want the token revoked", err, answer.Code)
	}
	if answer, rejected, err := s.As(secret, "/account/tokens"); err != nil || !rejected ||
		answer.Code != http.StatusSeeOther {
		t.Errorf("got %v, rejected: %v, want the session ended with its token", err, rejected)
	}
}

// TestReadOnlyMakesNoTokens checks that a read-only session cannot create tokens.
func TestReadOnlyMakesNoTokens(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	s.User("Epoxy", true)
	viewer := s.ReadOnly("epoxy")
	answer, _, err := s.As(viewer, "/account/tokens")
	if err != nil || answer.Code != http.StatusOK {
		t.Errorf("got %v, %d, want the list", err, answer.Code)
	}
	wider := url.Values{"name": {"x"}, "scope": {"write"}, "days": {"7"}}
	if _, _, err := s.Post(viewer, "/account/tokens", wider); !fault.Is(err, fault.Forbidden) {
		t.Errorf("got %v, want no wider token", err)
	}
}

// TestAccountSessions ends one session, and then all others.
func TestAccountSessions(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	s.User("Epoxy", true)
	s.User("mortar", true)
	_, access := s.Issue("epoxy")
	_, mortars := s.Session("mortar")
	here := s.SignedIn(access)
	valid := func(secret string) bool {
		_, err := s.Tokens.SignIn.Resume(t.Context(), secret)
		return err == nil
	}
	idOf := func(secret string) string {
		viewer, err := s.Tokens.SignIn.Resume(t.Context(), secret)
		if err != nil {
			t.Fatal(err)
		}
		return string(viewer.Token.ID)
	}
	second, third := s.SignedIn(access), s.SignedIn(access)
	answer, _, err := s.As(here, "/account/sessions")
	if err != nil || strings.Count(answer.Body.String(), "<li>") != 3 {
		t.Errorf("got %v, %s, want three sessions", err, answer.Body)
	}
	visit.WantIn(t, answer.Body.String(), "<span>this browser</span>", "<span>read and write</span>",
		`name="end" value="`+idOf(second)+`"`)
	for _, id := range []string{idOf(second), idOf(mortars)} {
		if answer, _, err := s.Post(here, "/account/sessions", url.Values{"end": {id}}); err != nil ||
			answer.Code != http.StatusSeeOther {
			t.Errorf("got %v, %d, want the list again", err, answer.Code)
		}
	}
	if valid(second) || !valid(third) || !valid(mortars) || !valid(here) {
		t.Error("got other sessions ended, want only the second")
	}
	if _, _, err := s.Post(here, "/account/sessions", nil); !fault.Is(err, fault.Invalid) {
		t.Errorf("got %v, want fault.Invalid for an empty form", err)
	}
	if _, _, err := s.Post(here, "/account/sessions", url.Values{"end": {"others"}}); err != nil {
		t.Error(err)
	}
	if valid(third) || !valid(mortars) || !valid(here) {
		t.Error("got other sessions ended, want only the third")
	}
	for _, path := range []string{"/account/sessions", "/account/tokens"} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			answer := httptest.NewRecorder()
			if _, err := s.Respond(answer, s.Asking(method, path, "", nil)); err != nil {
				t.Error(err)
			}
			if want := "/sign-in?next=" + url.QueryEscape(path); answer.Header().Get("Location") != want {
				t.Errorf("%s %s: got %v, want %s", method, path, answer.Header(), want)
			}
		}
	}
}

// TestSessionOfAnHour checks that whatever could take over the account asks to sign in again when the session is old.
func TestSessionOfAnHour(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	epoxy := s.User("Epoxy", true)
	secret, start := token.Generate(), time.Now().Add(-token.RecentSession)
	old := token.Token{ID: "old", Owner: epoxy, Kind: token.Session, Hash: secret.Hash(), CreatedAt: start}
	if err := (fake.Tokens{Store: s.Store}).StartSession(t.Context(), netip.Addr{}, old, token.Hash{}); err != nil {
		t.Fatal(err)
	}
	form := url.Values{"name": {"x"}, "scope": {"read"}, "days": {"7"}}
	answer, _, err := s.Post(secret.Reveal(), "/account/tokens", form)
	if err != nil || answer.Header().Get("Location") != "/sign-in?next=%2Faccount%2Ftokens" {
		t.Errorf("got %v, %v, want a redirect to sign in again", err, answer.Header())
	}
	answer, _, err = s.As(secret.Reveal(), answer.Header().Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	visit.WantIn(t, answer.Body.String(), `<label for="token">Access token</label>`)
	for _, path := range []string{"/account/tokens", "/account/sessions", "/account/identities", "/account"} {
		if answer, _, err := s.As(secret.Reveal(), path); err != nil || answer.Code != http.StatusOK {
			t.Errorf("%s: got %v, %d, want the page", path, err, answer.Code)
		}
	}
	for what, c := range map[string]struct {
		path string
		form url.Values
		next string
	}{
		"creating a token": {"/account/tokens", form, "/account/tokens"},
		"revoking a token": {"/account/tokens", url.Values{"revoke": {"x"}}, "/account/tokens"},
		"renaming":         {"/account", url.Values{"name": {"Resin"}, "language": {"Go"}}, "/account"},
		"deleting":         {"/account/delete", url.Values{"name": {"Epoxy"}, "pastes": {"delete"}}, "/account/delete"},
		"unlinking":        {"/account/identities", url.Values{"unlink": {"github"}}, "/account/identities"},
		"linking":          {"/account/identities", url.Values{"link": {"github"}}, "/account/identities"},
		"exporting":        {"/account/export", nil, "/account"},
	} {
		answer, _, err := s.Post(secret.Reveal(), c.path, c.form)
		if want := "/sign-in?next=" + url.QueryEscape(c.next); err != nil || answer.Header().Get("Location") != want ||
			answer.Body.Len() > 0 {
			t.Errorf("%s: got %v, %v, want %s", what, err, answer.Header(), want)
		}
	}
	profile := url.Values{"name": {"Epoxy"}, "language": {"Go"}, "public": {"on"}}
	if answer, _, err := s.Post(secret.Reveal(), "/account", profile); err != nil ||
		answer.Header().Get("Location") != "/account?saved" {
		t.Errorf("got %v, %v, want the rest of the profile saved", err, answer.Header())
	}
}
