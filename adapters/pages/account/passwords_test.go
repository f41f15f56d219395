package account_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/application/accounts"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
	"github.com/gluepot/gluepot/tests/fake"
	"github.com/gluepot/gluepot/tests/visit"
)

const (
	goodPassword  = "tulip river stone"
	otherPassword = "stone river tulip"
)

// member creates a user with a password.
func member(t *testing.T, s *visit.Site, name string) {
	t.Helper()
	parsed, err := user.ParseName(name)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := s.Modules.Accounts.Passwords.Hash(t.Context(), parsed, goodPassword)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Users.Create.Do(t.Context(), audit.Operator(),
		users.CreateInput{Name: name, Password: hash}); err != nil {
		t.Fatal(err)
	}
}

// cookieOf returns the session's secret that an answer sets, or "".
func cookieOf(answer *httptest.ResponseRecorder) string {
	secret, _, _ := strings.Cut(strings.TrimPrefix(answer.Header().Get("Set-Cookie"), "gluepot-session="), ";")
	return secret
}

// wantSession checks that an answer begins a session, and redirects.
func wantSession(t *testing.T, answer *httptest.ResponseRecorder, err error, before, next string) (secret string) {
	t.Helper()
	secret = cookieOf(answer)
	if err != nil || answer.Code != http.StatusSeeOther || answer.Header().Get("Location") != next ||
		!strings.HasPrefix(secret, token.Prefix) || secret == before ||
		answer.Header().Get("Cache-Control") != "private, no-store" {
		t.Fatalf("got %v, %d %v, want a new session, and %s", err, answer.Code, answer.Header(), next)
	}
	return secret
}

func signInForm(name, password string) url.Values {
	return url.Values{"name": {name}, "password": {password}, "next": {"/k2j4x8m1"}}
}

func TestSignInWithPassword(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	member(t, s, "Epoxy")
	visit.WantIn(t, s.Page("/sign-in?next=/k2j4x8m1"), `autocomplete="username"`, `autocomplete="current-password"`,
		`value="/k2j4x8m1"`,
		"Or with an access token")
	visit.WantNotIn(t, s.Page("/sign-in"), "/sign-up")
	answer, rejected, err := s.Post("", "/sign-in", signInForm(" epoxy ", goodPassword))
	first := wantSession(t, answer, err, "", "/k2j4x8m1")
	answer, _, err = s.Post(first, "/sign-in", signInForm("EPOXY", goodPassword))
	second := wantSession(t, answer, err, first, "/k2j4x8m1")
	if _, ended, err := s.As(first, "/pastes"); rejected || !ended || err != nil {
		t.Errorf("got %v, want the browser's earlier session to have ended", err)
	}
	if answer, _, err := s.As(second, "/account/security"); err != nil || answer.Code != http.StatusOK {
		t.Errorf("got %v, %d, want to be signed in", err, answer.Code)
	}

	// All failures look the same.
	var pages []string
	for _, c := range [][2]string{{"epoxy", otherPassword}, {"nobody", goodPassword}, {"", ""}, {"a b", goodPassword}} {
		answer, rejected, err := s.Post("", "/sign-in", signInForm(c[0], c[1]))
		page := answer.Body.String()
		if err != nil || !rejected || answer.Code != http.StatusUnauthorized || cookieOf(answer) != "" ||
			answer.Header().Get("Cache-Control") != "private, no-store" {
			t.Errorf("%q: got %v, rejected: %v, %d %v, want 401", c, err, rejected, answer.Code, answer.Header())
		}
		if strings.Contains(page, goodPassword) || strings.Contains(page, otherPassword) {
			t.Errorf("%q: got the password in %s, want it nowhere", c, page)
		}
		pages = append(pages, strings.ReplaceAll(page, `name="name" value="`+c[0]+`"`, ""))
	}
	for _, page := range pages {
		if page != pages[0] || !strings.Contains(page, identity.ErrWrongPassword.Message) {
			t.Errorf("got %s, want the same for all: %s", page, pages[0])
		}
	}
	for range identity.Guesses {
		_, _, _ = s.Post("", "/sign-in", signInForm("epoxy", otherPassword))
	}
	answer, rejected, err = s.Post("", "/sign-in", signInForm("epoxy", goodPassword))
	if err != nil || rejected || answer.Code != http.StatusTooManyRequests || cookieOf(answer) != "" ||
		answer.Header().Get("Retry-After") != "120" {
		t.Errorf("got %v, rejected: %v, %d %v, want 429 and when", err, rejected, answer.Code, answer.Header())
	}
	_, access := s.Issue("epoxy")
	answer, _, err = s.Post("", "/sign-in", url.Values{"token": {access}, "next": {"/k2j4x8m1"}})
	wantSession(t, answer, err, "", "/k2j4x8m1")
}

func TestPasswordsOff(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	member(t, s, "epoxy")
	setup, err := s.Modules.Accounts.SetUp.Begin(t.Context(), audit.Operator())
	if err != nil {
		t.Fatal(err)
	}
	_, _, reset, err := s.Modules.Accounts.Reset.Offer(t.Context(), audit.Operator(), "epoxy")
	if err != nil {
		t.Fatal(err)
	}
	_, session := s.Session("epoxy")
	s.Account(accounts.Options{Registration: accounts.Open})
	visit.WantNotIn(t, s.Page("/sign-in"), `name="password"`, "/sign-up")
	if _, _, err := s.Post("", "/sign-in", signInForm("epoxy", goodPassword)); !fault.Is(err, fault.Invalid) {
		t.Errorf("got %v, want fault.Invalid", err)
	}
	for _, path := range []string{"/setup/" + setup, "/reset/" + reset} {
		if _, rejected, err := s.As("", path); !fault.Is(err, fault.Forbidden) || !rejected {
			t.Errorf("%s: got %v, rejected: %v, want it refused", path, err, rejected)
		}
	}
	answer, _, err := s.As(session, "/account/security")
	if err != nil {
		t.Fatal(err)
	}
	visit.WantNotIn(t, answer.Body.String(), `type="password"`)
}

func newForm(name, password string) url.Values {
	return url.Values{"name": {name}, "password": {password}, "again": {password}}
}

func TestSetUp(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	code, err := s.Modules.Accounts.SetUp.Begin(t.Context(), audit.Operator())
	if err != nil {
		t.Fatal(err)
	}
	path := "/setup/" + code
	// Crawlers and previews must not use the link up.
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodGet} {
		answer := httptest.NewRecorder()
		if rejected, err := s.Respond(answer, s.Asking(method, path, "", nil)); err != nil || rejected ||
			answer.Code != http.StatusOK ||
			answer.Header().Get("Cache-Control") != "private, no-store" || answer.Header().Get("X-Robots-Tag") != "noindex" {
			t.Fatalf("got %v, rejected: %v, %d %v, want the form, in no cache", err, rejected, answer.Code, answer.Header())
		}
	}
	visit.WantIn(t, s.Page(path), `autocomplete="new-password"`, `action="`+path+`"`)
	for what, c := range map[string]struct {
		form   url.Values
		status int
		says   string
	}{
		"a weak password": {newForm("root", "weak but long enough"), http.StatusBadRequest, "too easy to guess"},
		"two passwords": {
			url.Values{"name": {"root"}, "password": {goodPassword}, "again": {otherPassword}}, http.StatusBadRequest,
			"differ",
		},
		"no repetition": {url.Values{"name": {"root"}, "password": {goodPassword}}, http.StatusBadRequest,
			"differ"},
		"nothing":              {url.Values{}, http.StatusBadRequest, "The username must not be empty."},
		"the name as password": {newForm("mortimer", "mortimer mortimer"), http.StatusBadRequest, "contains the username"},
	} {
		answer, rejected, err := s.Post("", path, c.form)
		if err != nil || rejected || answer.Code != c.status || cookieOf(answer) != "" {
			t.Errorf("%s: got %v, rejected: %v, %d, want %d", what, err, rejected, answer.Code, c.status)
		}
		visit.WantIn(t, answer.Body.String(), c.says, `value="`+c.form.Get("name")+`"`)
		visit.WantNotIn(t, answer.Body.String(), goodPassword)
	}
	answer, _, err := s.Post("", path, newForm("root", goodPassword))
	secret := wantSession(t, answer, err, "", "/admin")
	page, _, err := s.As(secret, "/pastes")
	if err != nil || !strings.Contains(page.Body.String(), "Administration") {
		t.Errorf("got %v, want the pages of an administrator", err)
	}
	for _, other := range []string{path, "/setup/made-up"} {
		if _, rejected, err := s.As("", other); !fault.Is(err, fault.Forbidden) || !rejected {
			t.Errorf("%s: got %v, rejected: %v, want it refused, as a failed sign-in", other, err, rejected)
		}
		if _, rejected, err := s.Post("", other, newForm("mallory", goodPassword)); !fault.Is(err,
			fault.Forbidden) || !rejected {
			t.Errorf("%s: got %v, rejected: %v, want it refused, as a failed sign-in", other, err, rejected)
		}
	}
}

func TestReset(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	s.User("epoxy", true)
	_, old := s.Session("epoxy")
	_, _, code, err := s.Modules.Accounts.Reset.Offer(t.Context(), audit.Operator(), "epoxy")
	if err != nil {
		t.Fatal(err)
	}
	path := "/reset/" + code
	for range 2 {
		visit.WantIn(t, s.Page(path), "<b>epoxy</b>", `autocomplete="new-password"`)
	}
	answer, _, err := s.Post("", path, newForm("", "short"))
	if err != nil || answer.Code != http.StatusBadRequest {
		t.Errorf("got %v, %d, want the form again", err, answer.Code)
	}
	answer, _, err = s.Post("", path, newForm("", goodPassword))
	wantSession(t, answer, err, old, "/account/security")
	if _, ended, err := s.As(old, "/pastes"); !ended || err != nil {
		t.Errorf("got %v, want the sessions ended", err)
	}
	if _, rejected, err := s.Post("", path, newForm("", otherPassword)); !fault.Is(err, fault.Forbidden) || !rejected {
		t.Errorf("a second use: got %v, rejected: %v, want fault.Forbidden", err, rejected)
	}
	answer, _, err = s.Post("", "/sign-in", signInForm("epoxy", goodPassword))
	wantSession(t, answer, err, "", "/k2j4x8m1")
}

func TestJoin(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	_, code, err := s.Modules.Accounts.Invite.Do(t.Context(), audit.Operator(), 1, 1e12, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Post("", "/sign-up", newForm("ann", goodPassword)); !fault.Is(err, fault.Forbidden) {
		t.Errorf("got %v where registration is closed, want it refused", err)
	}
	s.Account(accounts.Options{Registration: accounts.Invite, Passwords: fake.Passwords{}})
	visit.WantNotIn(t, s.Page("/sign-in"), "/sign-up")
	visit.WantIn(t, s.Page("/invite/"+code), `action="/invite/`+code+`"`, `autocomplete="new-password"`)
	for _, path := range []string{"/sign-up", "/invite/made-up"} {
		if _, rejected, err := s.Post("", path, newForm("ann", goodPassword)); !fault.Is(err, fault.Forbidden) || !rejected {
			t.Errorf("%s: got %v, rejected: %v, want it refused", path, err, rejected)
		}
	}
	answer, rejected, err := s.Post("", "/invite/"+code, newForm("admin", goodPassword))
	if err != nil || !rejected || answer.Code != http.StatusBadRequest {
		t.Errorf("got %v, rejected: %v, %d, want the form again, counted", err, rejected, answer.Code)
	}
	answer, rejected, err = s.Post("", "/invite/"+code, newForm("ann", goodPassword))
	wantSession(t, answer, err, "", "/pastes")
	if !rejected {
		t.Error("got a sign-up that does not count, want it counted as a failed sign-in")
	}
	if _, _, err := s.Post("", "/invite/"+code, newForm("bob", goodPassword)); !fault.Is(err, fault.Forbidden) {
		t.Errorf("got %v, want the invitation used up", err)
	}

	s.Account(accounts.Options{Registration: accounts.Open, Passwords: fake.Passwords{}})
	visit.WantIn(t, s.Page("/sign-in"), `href="/sign-up"`)
	visit.WantIn(t, s.Page("/sign-up"), `action="/sign-up"`, `autocomplete="new-password"`)
	answer, _, err = s.Post("", "/sign-up", newForm("ANN", goodPassword))
	if err != nil || answer.Code != http.StatusConflict {
		t.Errorf("got %v, %d, want the form again, since the name is taken", err, answer.Code)
	}
	answer, _, err = s.Post("", "/sign-up", newForm("bob", goodPassword))
	wantSession(t, answer, err, "", "/pastes")
}

// TestOwnPassword sets, changes and removes a password.
func TestOwnPassword(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	s.User("epoxy", true)
	_, first := s.Session("epoxy")
	_, other := s.Session("epoxy")
	form := func(do, present, password string) url.Values {
		return url.Values{"do": {do}, "present": {present}, "password": {password}, "again": {password}}
	}
	const path = "/account/security"
	answer, _, err := s.Post(first, path, form("set", "", goodPassword))
	second := wantSession(t, answer, err, first, path+"?saved")
	for _, secret := range []string{first, other} {
		if _, rejected, err := s.As(secret, "/pastes"); !rejected || err != nil {
			t.Errorf("got %v, want all earlier sessions ended", err)
		}
	}
	page, _, err := s.As(second, path+"?saved")
	if err != nil {
		t.Fatal(err)
	}
	visit.WantIn(t, page.Body.String(), "Password changed.", "Current password", `value="remove"`)
	answer, rejected, err := s.Post(second, path, form("set", otherPassword, otherPassword))
	if err != nil || !rejected || answer.Code != http.StatusBadRequest ||
		!strings.Contains(answer.Body.String(), identity.ErrCurrentPassword.Message) {
		t.Errorf("got %v, rejected: %v, %d, want the form again, and a failed sign-in", err, rejected, answer.Code)
	}
	answer, _, err = s.Post(second, path, form("remove", "", ""))
	if err != nil || answer.Code != http.StatusConflict || !strings.Contains(answer.Body.String(), "last way") {
		t.Errorf("got %v, %d, want the last credential to stay", err, answer.Code)
	}
	if _, _, err := s.Post(second, path, form("", "", goodPassword)); !fault.Is(err, fault.Invalid) {
		t.Errorf("got %v without an action, want fault.Invalid", err)
	}
	answer, _, err = s.Post(s.ReadOnly("epoxy"), path, form("set", goodPassword, otherPassword))
	if !fault.Is(err, fault.Forbidden) {
		t.Errorf("got %v, %d from a session that may only read, want it refused", err, answer.Code)
	}
	for range identity.Guesses {
		_, _, _ = s.Post(second, path, form("set", otherPassword, otherPassword))
	}
	answer, _, err = s.Post(second, path, form("set", goodPassword, otherPassword))
	if err != nil || answer.Code != http.StatusTooManyRequests || answer.Header().Get("Retry-After") != "120" {
		t.Errorf("got %v, %d %v after too many wrong ones, want 429 and when", err, answer.Code, answer.Header())
	}
	// A session that was started with a token still ends with it.
	viewer, err := s.Tokens.SignIn.Resume(t.Context(), second)
	if err != nil || viewer.Token.Parent == "" {
		t.Errorf("got %+v, error %v, want a session that ends with the token of the earlier one", viewer.Token, err)
	}
}
