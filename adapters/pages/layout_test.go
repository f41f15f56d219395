package pages

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/paste"
)

var (
	// Of these templ knows which values would run something.
	urlAttributes = []string{"href", "action"}
	// These run nothing whatever they hold.
	textAttributes    = []string{"class", "content", "datetime", "for", "id", "name", "value"}
	booleanAttributes = []string{"autofocus", "checked", "hidden", "selected"}
	valuesOfAttribute = regexp.MustCompile(`([^\s<>"]+)=\{ *(.*?) *\}`)
	elementOfLink     = regexp.MustCompile(`<(\w+)[^<>]*\s(?:href|action)=\{`)
)

// TestScriptIsSmall holds that pages come with at most 4 kB of script, and 12 kB more where something is encrypted.
func TestScriptIsSmall(t *testing.T) {
	t.Parallel()
	for name, asset := range newAssets() {
		most := 4 << 10
		if asset.name == "encryption.js" {
			most = 12 << 10
		}
		if size := len(asset.content); path.Ext(name) == ".js" && size > most {
			t.Errorf("got %d bytes of %s, want at most %d", size, asset.name, most)
		}
	}
}

// TestAttributes holds that values stand only where templ's escaping is enough: templ knows of links and forms which URLs would run
// something, but not of formaction, srcset and the like, and takes what a style or a script is given for one of ours.
func TestAttributes(t *testing.T) {
	t.Parallel()
	seen := 0
	for name, source := range templates(t) {
		for _, found := range valuesOfAttribute.FindAllStringSubmatch(source, -1) {
			seen++
			attribute, value := found[1], found[2]
			boolean, isBoolean := strings.CutSuffix(attribute, "?")
			switch {
			case isBoolean && slices.Contains(booleanAttributes, boolean):
			case slices.Contains(urlAttributes, attribute), slices.Contains(textAttributes, attribute), strings.HasPrefix(attribute, "aria-"),
				strings.HasPrefix(attribute, "data-"):
			case attribute == "src" && strings.HasPrefix(value, "p.assetPath("):
			default:
				t.Errorf("%s: got a value in %s, want it in text, or in an attribute that is known here to take any", name, found[0])
			}
		}
		for _, found := range elementOfLink.FindAllStringSubmatch(source, -1) {
			if !slices.Contains([]string{"a", "link", "form"}, found[1]) {
				t.Errorf("%s: got %s, want a link or a form: of others templ does not look at the URL", name, found[0])
			}
		}
		for _, refused := range []string{"templ.Raw", "templ.SafeURL", "templ.JS", "... }\n", "script ", "<style"} {
			source := strings.ReplaceAll(strings.ReplaceAll(source, "{ children... }", ""), "<script src=", "")
			if strings.Contains(source, refused) {
				t.Errorf("%s: got %q, want that templ escapes everything", name, refused)
			}
		}
	}
	if seen < 50 {
		t.Errorf("got %d values in attributes, want those of all pages", seen)
	}
}

// templates returns the sources of the pages by their names.
func templates(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob("*.templ")
	if err != nil || len(names) == 0 {
		t.Fatalf("got %v, %v, want templates", names, err)
	}
	all := make(map[string]string)
	for _, name := range names {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(source)
	}
	return all
}

// TestGenerated finds most of what "make check-generated" finds, without the generator.
func TestGenerated(t *testing.T) {
	t.Parallel()
	module, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	version := regexp.MustCompile(`github.com/a-h/templ (v\S+)`).FindSubmatch(module)
	if version == nil {
		t.Fatal("got no version of templ in go.mod")
	}
	for name := range templates(t) {
		generated, err := os.ReadFile(strings.TrimSuffix(name, ".templ") + "_templ.go")
		if err != nil || !strings.Contains(string(generated), "\n// templ: version: "+string(version[1])+"\n") {
			t.Errorf("%s: got %v, or another version than %s; go generate -run templ ./adapters/pages", name, err, version[1])
		}
		if strings.Contains(string(generated), `" else`) { // it takes "else if" between attributes for one of them
			t.Errorf("%s: got an attribute else, want no else if between attributes", name)
		}
	}
}

// TestHostileForm has everything that is typed come back as text.
func TestHostileForm(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const typed = "\n\n \x00</textarea></title><script>x()</script>\" onfocus='x()' {x} @y &amp;\t"
	page := s.returns("/", http.StatusOK, sent{
		"title", typed, "snippet", typed, "name", typed, "language", typed, "code", typed, "tags", typed, "visibility", typed, "do", "add",
	})
	const text = "\n\n \ufffd&lt;/textarea&gt;&lt;/title&gt;&lt;script&gt;x()&lt;/script&gt;&#34; onfocus=&#39;x()&#39; {x} @y &amp;amp;\t"
	wantIn(t, page, ">\n"+text+"</textarea>", "<option selected>")
	if n := strings.Count(page, "onfocus"); n != strings.Count(page, "&#34; onfocus=&#39;x()&#39;") || n < 5 {
		t.Errorf("got %d times what was typed, some of it no text: %s", n, page)
	}
	if strings.Contains(page, "\x00") || strings.Contains(page, "<script>") {
		t.Errorf("got %s, want neither a null nor an element of what was typed", page)
	}
}

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
	s := newSite(t)
	epoxy := s.user("Epoxy", true)
	_, secret := s.session("epoxy")
	long := content(paste.Pasty{Language: "Plain Text", Code: strings.Repeat("'\n", 500_000)}) // too many lines to number
	long.Owner = epoxy
	long.Edits = []paste.Edit{{Type: paste.EditPastyAdded, Metadata: []string{"pasty000", "", "C"}, Text: strings.Repeat("'''''''\n", 15_000)}}
	s.holds("k2j4x8m1", long)
	for _, path := range []string{"/k2j4x8m1", "/k2j4x8m1/history", "/k2j4x8m1/edit"} {
		answer := httptest.NewRecorder()
		reader := &pieceReader{ResponseWriter: answer}
		if _, err := s.respond(reader, s.asking(http.MethodGet, path, secret, nil)); err != nil {
			t.Fatal(err)
		}
		if reader.total < 500_000 || reader.largest > 6*pieceLength {
			t.Errorf("%s: got %d bytes in pieces of up to %d, want more than 500,000 in some of up to %d",
				path, reader.total, reader.largest, 6*pieceLength)
		}
		whole := httptest.NewRecorder()
		if _, err := s.respond(whole, s.asking(http.MethodGet, path, secret, nil)); err != nil || whole.Flushed {
			t.Errorf("%s: got %v, flushed: %v, want a page that is not flushed", path, err, whole.Flushed)
		}
	}
}

// TestContact is in the footer of each page, also of those of errors.
func TestContact(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.cfg.Contact, s.cfg.TermsURL = "abuse@paste.example", "https://paste.example/terms?a=1&b=2"
	answer := httptest.NewRecorder()
	s.AnswerError(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/nothing", nil), http.StatusNotFound, "")
	for _, page := range []string{s.page("/"), answer.Body.String()} {
		wantIn(t, page, `href="mailto:abuse@paste.example">Contact</a>`, `href="https://paste.example/terms?a=1&amp;b=2">Terms of use</a>`)
	}
	s.cfg.Contact = "https://paste.example/abuse"
	wantIn(t, s.page("/"), `href="https://paste.example/abuse">Contact</a>`)
	if page := newSite(t).page("/"); strings.Contains(page, "Contact") || strings.Contains(page, "Terms of use") {
		t.Errorf("got %s, want neither where nothing is set", page)
	}
}
