package pastes_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/pages/marks"
	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/visit"
)

func TestPaste(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	document := visit.Content(
		paste.Pasty{Title: "main.go", Language: "Go", Code: "package main\n"},
		paste.Pasty{Title: "", Language: "Plain Text", Code: "a\nb"},
		paste.Pasty{Title: "<i>", Language: "C", Code: ""},
	)
	document.ExpiresAt = time.Date(2099, 1, 2, 3, 4, 0, 0, time.UTC)
	s.Holds("k2j4x8m1", document)
	visit.WantIn(t, s.Page("/k2j4x8m1"),
		`<html lang="en">`, "<title>A title · Gluepot</title>", `<meta property="og:title" content="A title">`,
		`<meta property="og:description" content="package main">`,
		`<meta name="twitter:card" content="summary_large_image">`,
		`<time datetime="2026-11-21T22:45:00Z">21 November 2026, 22:45 UTC</time>`,
		`expires <time datetime="2099-01-02T03:04:00Z">`,
		`<a href="#1"><bdi>main.go</bdi></a>`, `<a href="#2">Snippet 2</a>`, `<bdi>&lt;i&gt;</bdi>`, "This file is empty.",
		`href="/api/v2/raw/k2j4x8m1/pasty000"`, `href="/k2j4x8m1/download/pasty001"`, `href="/k2j4x8m1/files.zip"`,
		`<a id="1-L1" href="#1-L1" tabindex="-1">1</a><span class="k">package</span> main`,
		`href="#2-L2" tabindex="-1">2</a>b`,
	)
	s.Holds("single00", visit.Content(paste.Pasty{Language: "Plain Text", Code: "a"}))
	visit.WantIn(t, s.Page("/single00"), `<span class="lines"><a id="L1" href="#L1" tabindex="-1">1</a>a</span>`)
}

// TestLabels checks that the labels of code differ, though two pasties have one name.
func TestLabels(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	document := visit.Content(paste.Pasty{ID: "a", Title: "a.md", Language: "Markdown", Code: "a"},
		paste.Pasty{ID: "b", Title: "A.md", Language: "Markdown", Code: "a"})
	for number := range int64(2) {
		document.Edits = append(document.Edits,
			paste.Edit{Number: number, Type: paste.EditPastyCode, Metadata: []string{"a"}, Text: paste.DiffHeader},
			paste.Edit{Number: number, Type: paste.EditPastyCode, Metadata: []string{"b"}, Text: paste.DiffHeader})
	}
	s.Holds("k2j4x8m1", document)
	for _, path := range []string{"/k2j4x8m1", "/k2j4x8m1/history"} {
		labels := regexp.MustCompile(`role="region" aria-label="([^"]*)"`).FindAllString(strings.ToLower(s.Page(path)), -1)
		if slices.Sort(labels); len(labels) != 4 || len(slices.Compact(labels)) != 4 {
			t.Errorf("%s: got the labels %q, want four that differ", path, labels)
		}
	}
}

// TestNotShown requests pastes that the reader may not see, and checks that all have the same error page.
func TestNotShown(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	private, expired, encrypted := visit.Content(paste.Pasty{Code: "x"}), visit.Content(paste.Pasty{Code: "x"}),
		visit.Content()
	private.Visibility = paste.Private
	expired.ExpiresAt = time.Now().Add(-time.Hour)
	encrypted.Cipher = new(paste.Cipher)
	s.Holds("private0", private)
	s.Holds("expired0", expired)
	s.Holds("encrypt0", encrypted)
	for _, id := range []string{"private0", "expired0", "encrypt0", "unknown0", "favicon.ico", strings.Repeat("x", 100)} {
		for _, path := range []string{"/" + id, "/" + id + "/files.zip", "/" + id + "/download/pasty000"} {
			if answer, err := s.Get(path); !fault.Is(err, fault.NotFound) || answer.Body.Len() > 0 {
				t.Errorf("%s: got %v %s, want fault.NotFound", path, err, answer.Body)
			}
		}
	}
	var pages []string
	for _, message := range []string{"There is no paste with that id.", "There is nothing at this path."} {
		answer := httptest.NewRecorder()
		s.AnswerError(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/x", nil),
			http.StatusNotFound, message)
		pages = append(pages, fmt.Sprint(answer.Code, answer.Header(), answer.Body))
	}
	if pages[0] != pages[1] || !strings.HasPrefix(pages[0], "404 ") {
		t.Errorf("got %s and %s, want the same 404", pages[0], pages[1])
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	s.Holds("k2j4x8m1", visit.Content(paste.Pasty{Code: "x"}))
	answer, err := s.Get("/k2j4x8m1")
	if err != nil {
		t.Fatal(err)
	}
	policy := answer.Header().Get("Content-Security-Policy")
	for _, want := range []string{
		"default-src 'none'", "style-src 'self'", "script-src 'self'", "form-action 'self'", "base-uri 'none'",
		"frame-ancestors 'none'",
	} {
		if !strings.Contains(policy, want) || strings.Contains(policy, "unsafe") {
			t.Errorf("got the policy %s, want %s and nothing unsafe", policy, want)
		}
	}
	for _, rest := range strings.Split(answer.Body.String(), `"/~/assets/`)[1:] {
		path := "/~/assets/" + rest[:strings.IndexByte(rest, '"')]
		file, err := s.Get(path)
		if err != nil || file.Body.Len() == 0 || !strings.Contains(file.Header().Get("Cache-Control"), "immutable") {
			t.Errorf("%s: got %v %v, want an immutable file", path, err, file.Header())
		}
	}
}

// TestHostileCode renders pastes that could break or deceive a browser. tests/browser opens the same ones.
func TestHostileCode(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	thousand := make([]paste.Pasty, 1000)
	for i := range thousand {
		thousand[i] = paste.Pasty{Language: "Go", Code: "package main"}
	}
	for id, document := range map[string]paste.Document{
		"script00": visit.Content(paste.Pasty{
			Title: "</title><script>x()</script>", Language: "HTML", Code: "</code></pre><script>x()</script>",
		}),
		"null0000": visit.Content(paste.Pasty{Language: "Go", Code: "\x00\u202e\u2066 // x"}),
		"longline": visit.Content(paste.Pasty{Language: "JavaScript", Code: strings.Repeat("x<", 500_000)}),
		"lines000": visit.Content(paste.Pasty{Language: "Go", Code: strings.Repeat("\n", 1_000_000)}),
		"marks000": visit.Content(paste.Pasty{Language: "Plain Text", Code: strings.Repeat("\x00", 1_000_000)}),
		"thousand": visit.Content(thousand...),
		"toolong0": visit.Content(paste.Pasty{Language: "Go", Code: strings.Repeat("x", site.MaxShownBytes+1)},
			paste.Pasty{Language: "Go", Code: "y"}),
	} {
		document.Title = document.Pasties[0].Title
		s.Holds(id, document)
		page := s.Page("/" + id)
		// A pasty that is too long is replaced by its length.
		most := 100_000
		for _, pasty := range document.Pasties {
			most += 2000 + 6*len(pasty.Code)
		}
		if strings.Contains(page, "<script>") || strings.Contains(page, "\x00") || len(page) > most+100*marks.Max {
			t.Errorf("%s: got %d bytes: %.3000s, want no element and no null of the paste in at most %d", id,
				len(page), page, most)
		}
		begins, ends := strings.Count(page, "<section"), strings.Count(page, "</section>")
		if n := len(document.Pasties); begins != n || ends != n {
			t.Errorf("%s: got %d pasties and %d ends of them, want %d", id, begins, ends, n)
		}
	}
	visit.WantIn(t, s.Page("/null0000"), `data-mark="00"`, `data-mark="202E"`, `data-mark="2066"`)
	visit.WantIn(t, s.Page("/toolong0"), "Too long to show here: 2097153 bytes.", `id="2-L1"`)
	visit.WantIn(t, s.Page("/lines000"), "Too many lines to number.")
}

func TestDownloads(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	s.Holds("k2j4x8m1", visit.Content(
		paste.Pasty{Title: "../é.go", Language: "Go", Code: "package main\n"},
		paste.Pasty{Title: "../é.go", Language: "Go", Code: ""},
		paste.Pasty{Language: "Python", Code: "\x00"},
	))
	answer, err := s.Get("/k2j4x8m1/download/pasty000")
	if err != nil || answer.Body.String() != "package main\n" ||
		answer.Header().Get("Content-Type") != "text/plain; charset=utf-8" ||
		answer.Header().Get("Content-Disposition") != "attachment; filename*=utf-8''%C3%A9.go" {
		t.Errorf("got %v %v %s, want the code as a file", err, answer.Header(), answer.Body)
	}
	answer, err = s.Get("/k2j4x8m1/files.zip")
	if err != nil || answer.Header().Get("Content-Disposition") != "attachment; filename=k2j4x8m1.zip" {
		t.Fatalf("got %v %v, want a file", err, answer.Header())
	}
	archive, err := zip.NewReader(bytes.NewReader(answer.Body.Bytes()), int64(answer.Body.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, file := range archive.File {
		content, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		code, err := io.ReadAll(content)
		got = append(got, fmt.Sprintf("%s %q %v", file.Name, code, err))
	}
	if want := `é.go "package main\n" <nil>, é (2).go "" <nil>, pasty002.py "\x00" <nil>`; strings.Join(got,
		", ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, ", "), want)
	}
}

// TestInvisible renders the largest pastes of characters that have marks, in code and in titles. Pages show a bounded
// number of marks, and the others do not make them longer.
func TestInvisible(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	s.Holds("controls", visit.Content(paste.Pasty{Language: "Plain Text",
		Code: strings.Repeat("\x01", site.MaxShownBytes-10)}))
	titles := make([]paste.Pasty, 1000)
	for i := range titles {
		titles[i] = paste.Pasty{Title: strings.Repeat("\u202e", 4096), Language: strings.Repeat("\u2028", 4096), Code: "a"}
	}
	document := visit.Content(titles...)
	document.Title = strings.Repeat("\u202e", site.MaxShownBytes)
	for i := range 500 {
		document.Edits = append(document.Edits, paste.Edit{Number: int64(i), Type: paste.EditTitle,
			Text: strings.Repeat("\x01", 4096)})
	}
	s.Holds("titled00", document)
	for _, path := range []string{"/controls", "/titled00", "/titled00/history"} {
		page := s.Page(path)
		if n := strings.Count(page, "data-mark="); n != marks.Max || len(page) > marks.Max*100+len(titles)*2200 {
			t.Errorf("%s: got %d marks in %d bytes, want %d in a page of bounded length", path, n,
				len(page), marks.Max)
		}
	}
}

// TestProse checks that plain text wraps its lines, and has no marks for the joiners that its script needs. Code does
// neither.
func TestProse(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	const persian = "می\u200cخواهم \u202e"
	s.Holds("prose000", visit.Content(
		paste.Pasty{Language: "Plain Text", Code: persian}, paste.Pasty{Language: "Go", Code: persian},
	))
	prose, code, _ := strings.Cut(s.Page("/prose000"), "Code of snippet 2")
	visit.WantIn(t, prose, `class="code wrapped"`, "می\u200cخواهم", `data-mark="202E"`)
	visit.WantIn(t, code, `data-mark="200C"`, `data-mark="202E"`)
	if strings.Contains(code, "wrapped") || strings.Contains(prose, `data-mark="200C"`) {
		t.Errorf("got %s, want only plain text as prose", prose+code)
	}
}

// TestRenderingEnds ends requests while their pages are written, and then requests more large pages than may wait.
func TestRenderingEnds(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	long := visit.Content(paste.Pasty{Language: "Plain Text", Code: strings.Repeat("a\n", site.MaxShownBytes/2-10)})
	long.Edits = []paste.Edit{{
		Type: paste.EditPastyAdded, Metadata: []string{"pasty000", "", "C"},
		Text: strings.Repeat(strings.Repeat("a", 1000)+"\n", 2000),
	}}
	s.Holds("large000", long)
	s.Holds("small000", visit.Content(paste.Pasty{Code: "a"}))
	for _, path := range []string{"/large000", "/large000/history"} {
		ctx, cancel := context.WithCancel(t.Context())
		w := &endingWriter{discardWriter{make(http.Header)}, cancel, 0}
		_, err := s.Respond(w, httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil))
		if !fault.Is(err, fault.Busy) || w.bytes > 300_000 {
			t.Errorf("%s: got %v after %d bytes, want fault.Busy soon after the request ends", path, err, w.bytes)
		}
	}
	for range cap(s.Large.Places) {
		s.Large.Places <- struct{}{}
	}
	for path, want := range map[string]fault.Kind{
		"/large000": fault.Busy, "/large000/history": fault.Busy, "/small000": fault.None, "/small000/history": fault.None,
	} {
		if _, err := s.Get(path); fault.KindOf(err) != want {
			t.Errorf("%s: got %v while others wait, want %v", path, err, want)
		}
	}
	for range cap(s.Large.Places) {
		<-s.Large.Places
	}
	for range cap(s.Large.Places) + 1 { // places and slots are released
		if _, err := s.Get("/large000"); err != nil {
			t.Fatal(err)
		}
	}
}

// endingWriter is a page whose request ends once some of it is written.
type endingWriter struct {
	discardWriter

	end   context.CancelFunc
	bytes int
}

func (w *endingWriter) Write(b []byte) (int, error) {
	if w.bytes += len(b); w.bytes > 100_000 {
		w.end()
	}
	return len(b), nil
}

// TestRemovedPaste checks that all pages of a removed paste say so, and those of others do not.
func TestRemovedPaste(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	s.Store.Removed = map[paste.ID]bool{"removed1": true, "private1": false}
	for path, want := range map[string]fault.Kind{
		"/removed1": fault.Gone, "/removed1/history": fault.Gone, "/removed1/files.zip": fault.Gone,
		"/removed1/raw/p": fault.Gone,
		"/private1":       fault.NotFound, "/unknown1": fault.NotFound,
	} {
		if _, err := s.Get(path); !fault.Is(err, want) {
			t.Errorf("%s: got %v, want %v", path, err, want)
		}
	}
}
