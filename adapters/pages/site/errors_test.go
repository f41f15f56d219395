package site_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/tests/visit"
)

// TestErrorsOfSessions are pages that know of a cookie no more than that there is one.
func TestErrorsOfSessions(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	for _, c := range []struct {
		secret string
		status int
		want   string
	}{
		{"", http.StatusNotFound, `href="/sign-in?next=%2Fk2j4x8m1%3Fa%3Db">Sign in<`}, {"x", http.StatusNotFound, `action="/sign-out"`},
		{"x", http.StatusUnauthorized, `class="button main" href="/sign-in?next=%2Fk2j4x8m1%3Fa%3Db"`},
	} {
		answer := httptest.NewRecorder()
		s.AnswerError(answer, s.Asking(http.MethodGet, "/k2j4x8m1?a=b", c.secret, nil), c.status, "Send a valid one in the Authorization header.")
		visit.WantIn(t, answer.Body.String(), c.want)
		if page := answer.Body.String(); strings.Contains(page, "Authorization") {
			t.Errorf("got %s, want what a person can do", page)
		}
	}
}

// TestErrorsElsewhere holds that no error leads to another site.
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

// TestErrorsForPeople ends the session, and explains the error in other words than those of HTTP.
func TestErrorsForPeople(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	answer, asked := httptest.NewRecorder(), s.Asking(http.MethodPost, "/", "x", nil)
	site.SetSession(answer, asked, "")
	s.AnswerError(answer, asked, http.StatusRequestEntityTooLarge, "The body is larger than 2097152 bytes.")
	page := answer.Body.String()
	visit.WantIn(t, page, `href="/sign-in">Sign in<`, "This is too long", "Go back, and send less of it.", "2097152 bytes")
	if strings.Contains(page, "Sign out") || strings.Contains(page, "Entity") {
		t.Errorf("got %s, want neither a way to sign out nor the words of HTTP", page)
	}
}
