package site_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/tests/visit"
)

// TestErrorsOfSessions checks that errors show the reader's account, and do not ask a store that is overloaded or away.
func TestErrorsOfSessions(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	s.User("Epoxy", false)
	_, own := s.Session("epoxy")
	const (
		account, signOut, signIn = "Signed in as <b>Epoxy</b>", `action="/sign-out"`,
			`href="/sign-in?next=%2Fk2j4x8m1%3Fa%3Db">Sign in<`
		path = "/k2j4x8m1?a=b"
	)
	for name, c := range map[string]struct {
		path, secret string
		status       int
		want, not    string
		rejected     bool
	}{
		"a visitor":            {path, "", http.StatusNotFound, signIn, signOut, false},
		"a reader":             {path, own, http.StatusNotFound, account, signIn, false},
		"no page":              {"/a/b/c", own, http.StatusNotFound, account, "Sign in<", false},
		"a form":               {path, own, http.StatusForbidden, account, signIn, false},
		"an invalid cookie":    {path, "x", http.StatusNotFound, signIn, signOut, true},
		"too many requests":    {path, "x", http.StatusTooManyRequests, signOut, account, false},
		"a store that is away": {path, own, http.StatusServiceUnavailable, signOut, account, false},
		"a request without a token": {
			path, "x", http.StatusUnauthorized, `class="button main" href="/sign-in?next=%2Fk2j4x8m1%3Fa%3Db"`, signOut, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer, r := httptest.NewRecorder(), s.Asking(http.MethodGet, c.path, c.secret, nil)
			rejected := s.AnswerError(answer, r, c.status, "Send a valid one in the Authorization header.")
			page, header := answer.Body.String(), answer.Header()
			visit.WantIn(t, page, c.want)
			visit.WantNotIn(t, page, c.not)
			if c.status == http.StatusNotFound || c.status == http.StatusUnauthorized {
				visit.WantNotIn(t, page, "Authorization") // a person can do something else
			}
			if cleared := header.Get("Set-Cookie") != ""; rejected != c.rejected || cleared != c.rejected {
				t.Errorf("got rejected: %v, and the cookie cleared: %v, want both: %v", rejected, cleared, c.rejected)
			}
			if personal := c.want == account; personal && header.Get("Cache-Control") != "private, no-store" {
				t.Errorf("got %v, want it in no cache", header)
			}
		})
	}
}

// TestErrorsElsewhere checks that no error page leads to another site.
func TestErrorsElsewhere(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	for _, path := range []string{"//example.org/a", "/" + strings.Repeat("a", site.MaxNext)} {
		r := s.Asking(http.MethodGet, "/", "", nil)
		r.URL.Path = path
		answer := httptest.NewRecorder()
		s.AnswerError(answer, r, http.StatusNotFound, "")
		visit.WantIn(t, answer.Body.String(), `href="/sign-in">`)
	}
}

// TestErrorsForPeople checks that an error page explains an ended session without HTTP's terms.
func TestErrorsForPeople(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	answer, r := httptest.NewRecorder(), s.Asking(http.MethodPost, "/", "x", nil)
	site.SetSession(answer, s.NewRequest(r, false), "")
	s.AnswerError(answer, r, http.StatusRequestEntityTooLarge, "The body is larger than 2097152 bytes.")
	page := answer.Body.String()
	visit.WantIn(t, page, `href="/sign-in">Sign in<`, "Too long", "Go back, and send less.", "2097152 bytes")
	if strings.Contains(page, "Sign out") || strings.Contains(page, "Entity") {
		t.Errorf("got %s, want neither a way to sign out nor the words of HTTP", page)
	}
}
