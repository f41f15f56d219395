package pages

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/internal/filename"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

func TestSafeName(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"main.go": "main.go", ".bashrc": ".bashrc", "../../etc/passwd": "etc-passwd", `..\..\boot.ini`: "boot.ini", "..": "", "": "", " / ": "",
		"a b.txt ": "a b.txt", "x.": "x", `a<b>:"|?*c`: "a_b______c", "gnp\u202eexe.txt": "gnpexe.txt", "nul\x00l\r\n": "null",
		"日本.md": "日本.md", "con": "_con", "Aux.c": "_Aux.c", "COM1.tar.gz": "_COM1.tar.gz", "console": "console", "nul .txt": "_nul .txt",
		strings.Repeat("x", 300) + ".go": strings.Repeat("x", 197) + ".go",
	} {
		if got := filename.Safe(title); got != want {
			t.Errorf("%q: got %q, want %q", title, got, want)
		}
	}
}

// TestExtensions has languages whose shortest extension, or whose first, is one that nobody expects.
func TestExtensions(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for language, want := range map[string]string{
		"Plain Text": "a.txt", "C++": "a.cpp", "JSON": "a.json", "Python": "a.py", "Go": "a.go", "of an import": "a.txt",
	} {
		if got := s.fileName(&paste.Pasty{ID: "a", Language: language}); got != want {
			t.Errorf("%s: got %s, want %s", language, got, want)
		}
	}
}

// TestPackingWaits has as many archives under way as there may be.
func TestPackingWaits(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.holds("k2j4x8m1", content(paste.Pasty{Code: "a"}))
	for range cap(s.archives.slots) {
		s.archives.slots <- struct{}{}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	request := httptest.NewRequestWithContext(ctx, http.MethodGet, "/k2j4x8m1/files.zip", nil)
	if _, err := s.respond(httptest.NewRecorder(), request); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v, want that there is no place", err)
	}
	<-s.archives.slots
	for range 2 { // the place is given back
		if _, err := s.get("/k2j4x8m1/files.zip"); err != nil {
			t.Error(err)
		}
	}
}

// TestPackingAllocates has many files in one archive: they share what packs them.
func TestPackingAllocates(t *testing.T) {
	s := newSite(t)
	pasties := make([]paste.Pasty, 500)
	for i := range pasties {
		pasties[i] = paste.Pasty{Title: "a", Code: "a"}
	}
	s.holds("k2j4x8m1", content(pasties...))
	took := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			if _, err := s.get("/k2j4x8m1/files.zip"); err != nil {
				b.Fatal(err)
			}
		}
	}).AllocedBytesPerOp()
	most := int64(32 << 20)
	if raced { // then pools forget some of what they hold, of 0.8 MiB each
		most = 160 << 20
	}
	if took > most {
		t.Errorf("got %d MiB for 500 files, want at most %d", took>>20, most>>20)
	}
}

func TestUniqueNames(t *testing.T) {
	t.Parallel()
	names := make(filename.Set)
	var got []string
	for _, name := range []string{"a.go", "a.go", "A.GO", "a (2).go", "a", "a"} {
		got = append(got, names.Unique(name))
	}
	if want := "a.go|a (2).go|A (3).GO|a (2) (2).go|a|a (2)"; strings.Join(got, "|") != want {
		t.Errorf("got %s, want %s", strings.Join(got, "|"), want)
	}
}
