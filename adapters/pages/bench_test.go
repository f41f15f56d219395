package pages

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/paste"
)

// discarded is a page that nobody reads.
type discarded struct{ header http.Header }

func (d discarded) Header() http.Header             { return d.header }
func (discarded) WriteHeader(int)                   {}
func (discarded) Write(p []byte) (int, error)       { return len(p), nil }
func (discarded) WriteString(s string) (int, error) { return len(s), nil }

var _ io.StringWriter = discarded{}

// BenchmarkPaste makes the page of 2 KiB of Go, whose highlighting is kept or not.
func BenchmarkPaste(b *testing.B) {
	for name, keeps := range map[string]bool{"kept": true, "not kept": false} {
		b.Run(name, func(b *testing.B) {
			s := newSite(b)
			line := "	if n, err := fmt.Fprintf(w, \"%d of %s\", 12, name); err != nil { return n, err } // as always\n"
			s.holds("k2j4x8m1", content(paste.Pasty{Language: "Go", Code: strings.Repeat(line, 2048/len(line))}))
			request := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/k2j4x8m1", nil)
			for b.Loop() {
				if !keeps {
					s.colours.kept = newKept(0)
				}
				if _, err := s.Answer(discarded{make(http.Header)}, request); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
