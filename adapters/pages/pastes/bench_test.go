package pastes_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/visit"
)

// discardWriter drops a page.
type discardWriter struct{ header http.Header }

func (d discardWriter) Header() http.Header             { return d.header }
func (discardWriter) WriteHeader(int)                   {}
func (discardWriter) Write(p []byte) (int, error)       { return len(p), nil }
func (discardWriter) WriteString(s string) (int, error) { return len(s), nil }

var _ io.StringWriter = discardWriter{}

// BenchmarkPaste renders 2 KiB of Go, whose highlighting is cached, and the largest pastes that are hard to render.
func BenchmarkPaste(b *testing.B) {
	line := "	if n, err := fmt.Fprintf(w, \"%d of %s\", 12, name); err != nil { return n, err } // as always\n"
	code := strings.Repeat(line, 2048/len(line))
	for _, c := range []struct {
		name    string
		pasties []paste.Pasty
	}{
		{"cached", []paste.Pasty{{Language: "Go", Code: code}}},
		{"control characters", []paste.Pasty{{Language: "Plain Text", Code: strings.Repeat("\x01", site.MaxShownBytes-20)}}},
		{"hidden between letters", []paste.Pasty{{Language: "Plain Text",
			Code: strings.Repeat("a\u2028", site.MaxShownBytes/4-20)}}},
		{"variation selectors", []paste.Pasty{{Language: "Plain Text",
			Code: strings.Repeat("❤\ufe0f", site.MaxShownBytes/6-20)}}},
		{"titles", slices.Repeat([]paste.Pasty{{Title: strings.Repeat("\u202e", 4096), Language: "Plain Text", Code: "a"}},
			170)},
		{"quotes", []paste.Pasty{{Language: "Plain Text", Code: strings.Repeat("\"", site.MaxShownBytes-20)}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := visit.New(b)
			s.Holds("k2j4x8m1", visit.Content(c.pasties...))
			request := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/k2j4x8m1", nil)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Respond(discardWriter{make(http.Header)}, request); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
