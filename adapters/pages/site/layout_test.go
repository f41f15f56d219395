package site_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/tests/visit"
)

// TestContact checks that the contact is in the footer of each page, including error pages.
func TestContact(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	s.Config.Contact, s.Config.TermsURL = "abuse@paste.example", "https://paste.example/terms?a=1&b=2"
	answer := httptest.NewRecorder()
	s.AnswerError(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/nothing", nil),
		http.StatusNotFound, "")
	for _, page := range []string{s.Page("/"), answer.Body.String()} {
		visit.WantIn(t, page, `href="mailto:abuse@paste.example">Contact</a>`,
			`href="https://paste.example/terms?a=1&amp;b=2">Terms of use</a>`)
	}
	s.Config.Contact = "https://paste.example/abuse"
	visit.WantIn(t, s.Page("/"), `href="https://paste.example/abuse">Contact</a>`)
	if page := visit.New(t).Page("/"); strings.Contains(page, "Contact") || strings.Contains(page, "Terms of use") {
		t.Errorf("got %s, want neither by default", page)
	}
}

// TestErrorOfHead checks that the headers of an error page are those of GET, whose length includes the link to sign in.
func TestErrorOfHead(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	var lengths []int
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		answer := httptest.NewRecorder()
		s.AnswerError(answer, httptest.NewRequestWithContext(t.Context(), method, "/nothing", nil), http.StatusNotFound, "")
		lengths = append(lengths, answer.Body.Len())
	}
	if lengths[0] != lengths[1] {
		t.Errorf("got %d bytes for GET and %d for HEAD, want the same", lengths[0], lengths[1])
	}
}
