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

// TestExtensions checks languages whose shortest extension, or whose first, is unusual.
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

// TestPackingWaits requests an archive while all slots are in use.
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
		t.Errorf("got %v, want fault.Busy", err)
	}
	<-s.Large.Slots
	for range 2 { // the slot is released
		if _, err := s.Get("/k2j4x8m1/files.zip"); err != nil {
			t.Error(err)
		}
	}
}

// TestPackingAllocates checks that the files of an archive share one compressor.
func TestPackingAllocates(t *testing.T) {
	s := visit.New(t)
	pasties := make([]paste.Pasty, 500)
	for i := range pasties {
		pasties[i] = paste.Pasty{Title: "a", Code: "a"}
	}
	s.Holds("k2j4x8m1", visit.Content(pasties...))
	allocated := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Get("/k2j4x8m1/files.zip"); err != nil {
				b.Fatal(err)
			}
		}
	}).AllocedBytesPerOp()
	most := int64(32 << 20)
	if visit.Raced { // then pools drop some of their compressors, of 0.8 MiB each
		most = 160 << 20
	}
	if allocated > most {
		t.Errorf("got %d MiB for 500 files, want at most %d", allocated>>20, most>>20)
	}
}
