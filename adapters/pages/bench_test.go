package pages

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/alecthomas/chroma/v2"

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

// BenchmarkTokens goes through 2 KiB of a language, also in chroma's own way.
func BenchmarkTokens(b *testing.B) {
	ours, theirs, samples := readLexers(), chromas(b), samples(b)
	for _, name := range []string{"go", "javascript", "python", "cpp", "rust", "json"} {
		for whose, lexer := range map[string]chroma.Lexer{"ours": ours[name], "chroma": theirs.Get(name)} {
			b.Run(name+"/"+whose, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					next, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, samples[name][0])
					if err != nil {
						b.Fatal(err)
					}
					for next() != chroma.EOF {
					}
				}
			})
		}
	}
}
