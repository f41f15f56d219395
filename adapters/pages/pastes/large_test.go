package pastes_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/visit"
)

// TestLargePages checks that a large page is not sent before it is complete.
func TestLargePages(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	epoxy := s.User("Epoxy", true)
	_, secret := s.Session("epoxy")
	// too many lines to number
	long := visit.Content(paste.Pasty{Language: "Plain Text", Code: strings.Repeat("'\n", 500_000)})
	long.Owner = epoxy
	long.Edits = []paste.Edit{{Type: paste.EditPastyAdded, Metadata: []string{"pasty000", "", "C"},
		Text: strings.Repeat("'''''''\n", 15_000)}}
	s.Holds("k2j4x8m1", long)
	for _, path := range []string{"/k2j4x8m1", "/k2j4x8m1/history", "/k2j4x8m1/edit"} {
		answer := httptest.NewRecorder()
		_, err := s.Respond(answer, s.Asking(http.MethodGet, path, secret, nil))
		if err != nil || answer.Flushed || answer.Body.Len() < 500_000 {
			t.Errorf("%s: got %v, %d bytes, flushed: %v, want more than 500,000 that are not flushed", path, err,
				answer.Body.Len(), answer.Flushed)
		}
	}
}
