package pastes_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/visit"
)

// pieceReader is somebody who reads a page, and remembers the largest piece.
type pieceReader struct {
	http.ResponseWriter

	largest, total int
}

func (r *pieceReader) Write(b []byte) (int, error) {
	r.largest, r.total = max(r.largest, len(b)), r.total+len(b)
	return len(b), nil
}

// TestPagesArePieces holds that a large page is nowhere as a whole, and is not sent before it is complete.
func TestPagesArePieces(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	epoxy := s.User("Epoxy", true)
	_, secret := s.Session("epoxy")
	long := visit.Content(paste.Pasty{Language: "Plain Text", Code: strings.Repeat("'\n", 500_000)}) // too many lines to number
	long.Owner = epoxy
	long.Edits = []paste.Edit{{Type: paste.EditPastyAdded, Metadata: []string{"pasty000", "", "C"}, Text: strings.Repeat("'''''''\n", 15_000)}}
	s.Holds("k2j4x8m1", long)
	for _, path := range []string{"/k2j4x8m1", "/k2j4x8m1/history", "/k2j4x8m1/edit"} {
		answer := httptest.NewRecorder()
		reader := &pieceReader{ResponseWriter: answer}
		if _, err := s.Respond(reader, s.Asking(http.MethodGet, path, secret, nil)); err != nil {
			t.Fatal(err)
		}
		if reader.total < 500_000 || reader.largest > 6*site.PieceLength {
			t.Errorf("%s: got %d bytes in pieces of up to %d, want more than 500,000 in some of up to %d",
				path, reader.total, reader.largest, 6*site.PieceLength)
		}
		whole := httptest.NewRecorder()
		if _, err := s.Respond(whole, s.Asking(http.MethodGet, path, secret, nil)); err != nil || whole.Flushed {
			t.Errorf("%s: got %v, flushed: %v, want a page that is not flushed", path, err, whole.Flushed)
		}
	}
}
