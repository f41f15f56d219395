package pastes_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/visit"
)

// TestExtensions has languages whose shortest extension, or whose first, is an unusual one.
func TestExtensions(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	for language, want := range map[string]string{
		"Plain Text": "a.txt", "C++": "a.cpp", "JSON": "a.json", "Python": "a.py", "Go": "a.go", "of an import": "a.txt",
	} {
		if got := s.FileName(&paste.Pasty{ID: "a", Language: language}); got != want {
			t.Errorf("%s: got %s, want %s", language, got, want)
		}
	}
}

// TestPackingWaits has as many archives under way as there may be.
func TestPackingWaits(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	s.Holds("k2j4x8m1", visit.Content(paste.Pasty{Code: "a"}))
	for range cap(s.Large.Slots) {
		s.Large.Slots <- struct{}{}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	request := httptest.NewRequestWithContext(ctx, http.MethodGet, "/k2j4x8m1/files.zip", nil)
	if _, err := s.Respond(httptest.NewRecorder(), request); !fault.Is(err, fault.Busy) {
		t.Errorf("got %v, want that there is no place", err)
	}
	<-s.Large.Slots
	for range 2 { // the place is given back
		if _, err := s.Get("/k2j4x8m1/files.zip"); err != nil {
			t.Error(err)
		}
	}
}

// TestPackingAllocates has many files in one archive: they share what packs them.
func TestPackingAllocates(t *testing.T) {
	s := visit.New(t)
	pasties := make([]paste.Pasty, 500)
	for i := range pasties {
		pasties[i] = paste.Pasty{Title: "a", Code: "a"}
	}
	s.Holds("k2j4x8m1", visit.Content(pasties...))
	took := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Get("/k2j4x8m1/files.zip"); err != nil {
				b.Fatal(err)
			}
		}
	}).AllocedBytesPerOp()
	most := int64(32 << 20)
	if visit.Raced { // then pools forget some of what they hold, of 0.8 MiB each
		most = 160 << 20
	}
	if took > most {
		t.Errorf("got %d MiB for 500 files, want at most %d", took>>20, most>>20)
	}
}
