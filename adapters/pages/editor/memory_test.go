package editor_test

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/visit"
)

// nowhere is an http.ResponseWriter that drops a page.
type nowhere struct{ http.ResponseWriter }

func (nowhere) Write(b []byte) (int, error) { return len(b), nil }

// TestMemoryOfForm renders a form with a long line. It is not parallel, because it measures the memory of the process.
func TestMemoryOfForm(t *testing.T) {
	s := visit.New(t)
	s.Holds("large000", visit.Content(paste.Pasty{Language: "Plain Text", Code: strings.Repeat("a", 1_900_000)}))
	ask := func() {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/large000/fork", nil)
		if _, err := s.Respond(nowhere{httptest.NewRecorder()}, r); err != nil {
			t.Fatal(err)
		}
	}
	ask() // fills caches
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	ask()
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 9_000_000 {
		t.Errorf("got %d bytes allocated for a code of 1,900,000, want at most 9,000,000", allocated)
	}
}
