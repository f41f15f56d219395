package account_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/visit"
)

// TestAccount changes every field of a profile. The old name leads to the new one while the profile is public.
func TestAccount(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	s.User("Epoxy", true)
	s.User("mortar", true)
	_, secret := s.Session("epoxy")
	answer, _, err := s.As(secret, "/account")
	if err != nil {
		t.Fatal(err)
	}
	visit.WantIn(
		t,
		answer.Body.String(),
		`value="Epoxy"`,
		`name="public" checked`,
		`<a href="/account" aria-current="page">Signed in as <b>Epoxy</b></a>`,
	)
	profile := func(name, avatar string, more ...string) url.Values {
		form := url.Values{"name": {name}, "avatar": {avatar}, "language": {"Go"}}
		for _, field := range more {
			form.Set(field, "on")
		}
		return form
	}
	save := func(form url.Values) (status int, page string) {
		t.Helper()
		answer, _, err := s.Post(secret, "/account", form)
		if err != nil {
			t.Fatal(err)
		}
		return answer.Code, answer.Body.String()
	}
	for what, c := range map[string]struct {
		form   url.Values
		status int
		says   string
	}{
		"a name that is taken":  {profile("MORTAR", ""), http.StatusConflict, "The username is taken"},
		"no name":               {profile("", ""), http.StatusBadRequest, "The username must not be empty."},
		"an avatar of http":     {profile("Epoxy", "http://example.com/a.png"), http.StatusBadRequest, "https://"},
		"an avatar of a script": {profile("Epoxy", "javascript:alert(1)"), http.StatusBadRequest, "https://"},
		"no language":           {url.Values{"name": {"Epoxy"}}, http.StatusBadRequest, "language"},
	} {
		if status, page := save(c.form); status != c.status || !strings.Contains(page, `role="alert"`) ||
			!strings.Contains(page, c.says) {
			t.Errorf("%s: got %d %s, want %d and %q", what, status, page, c.status, c.says)
		}
	}
	if status, _ := save(profile("Resin", "https://example.com/a.png", "public", "tags")); status != http.StatusSeeOther {
		t.Errorf("got %d, want the profile saved", status)
	}
	// A form that was opened before must not undo the changes.
	_, base, _ := strings.Cut(answer.Body.String(), `name="base" value="`)
	base, _, _ = strings.Cut(base, `"`)
	older := profile("Epoxy", "", "public")
	older.Set("base", base)
	status, again := save(older)
	if status != http.StatusConflict || !strings.Contains(again, "changed since you opened this page") ||
		strings.Contains(again, base) {
		t.Errorf("got %d %s, want nothing overwritten, and the form again", status, again)
	}
	answer, _, err = s.As(secret, "/account?saved")
	if err != nil {
		t.Fatal(err)
	}
	visit.WantIn(t, answer.Body.String(), `value="Resin"`, `value="https://example.com/a.png"`, `name="tags" checked`,
		`<option selected>Go</option>`, `role="status"`)
	if strings.Contains(answer.Body.String(), "<img src=\"https:") {
		t.Error("got an avatar loaded from elsewhere, want none")
	}
	if answer, _, err := s.As("", "/~EPOXY"); err != nil || answer.Header().Get("Location") != "/~Resin" {
		t.Errorf("got %v, %v, want the old name redirected to the new one", err, answer.Header())
	}
	if status, _ := save(profile("Resin", "")); status != http.StatusSeeOther {
		t.Errorf("got %d, want the profile saved", status)
	}
	if _, _, err := s.As("", "/~Epoxy"); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v, want fault.NotFound for the old name of a private profile", err)
	}
	_, mortars := s.Session("mortar")
	if answer, _, err := s.Post(mortars, "/account", profile("epoxy", "")); err != nil ||
		answer.Code != http.StatusConflict {
		t.Errorf("got %v, %d, want the old name not given to another user", err, answer.Code)
	}
}

// TestDeleteAccount deletes accounts with and without their pastes, if the form has their names.
func TestDeleteAccount(t *testing.T) {
	t.Parallel()
	for choice, stays := range map[string]bool{"delete": false, "anonymous": true} {
		s := visit.New(t)
		owner := s.User("Epoxy", true)
		for id, visibility := range map[string]paste.Visibility{"public00": paste.Public, "private0": paste.Private} {
			document := visit.Content(paste.Pasty{Code: "x"})
			document.Owner, document.Visibility = owner, visibility
			s.Holds(id, document)
		}
		_, secret := s.Session("epoxy")
		if answer, _, err := s.As(secret, "/account/delete"); err != nil || answer.Code != http.StatusOK {
			t.Errorf("got %v, %d, want the page that asks", err, answer.Code)
		}
		if answer, _, err := s.Post(secret, "/account/delete",
			url.Values{"name": {"mortar"}, "pastes": {choice}}); err != nil ||
			answer.Code != http.StatusBadRequest || !strings.Contains(answer.Body.String(), "This is not your username.") {
			t.Errorf("got %v, %d, want nothing deleted by another name", err, answer.Code)
		}
		if _, _, err := s.Post(secret, "/account/delete", url.Values{"name": {"epoxy"}}); !fault.Is(err, fault.Invalid) {
			t.Errorf("got %v, want nothing deleted without a choice", err)
		}
		answer, _, err := s.Post(secret, "/account/delete", url.Values{"name": {"epoxy"}, "pastes": {choice}})
		if err != nil || answer.Header().Get("Location") != "/" || !strings.Contains(answer.Header().Get("Set-Cookie"),
			"Max-Age=0") {
			t.Errorf("%s: got %v, %v, want the account deleted, and the cookie cleared", choice, err, answer.Header())
		}
		if _, rejected, err := s.As(secret, "/account"); err != nil || !rejected {
			t.Errorf("%s: got %v, rejected: %v, want the session ended", choice, err, rejected)
		}
		if _, _, err := s.As("", "/public00"); (err == nil) != stays {
			t.Errorf("%s: got %v, want the paste to stay: %v", choice, err, stays)
		}
	}
}
