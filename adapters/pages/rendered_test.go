package pages

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

func TestRendered(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.holds("k2j4x8m1", content(
		paste.Pasty{Title: "a.md", Language: "Markdown", Code: "# Head\n\n<script>x()</script>\n\n![cat](https://evil.example/cat.png)"},
		paste.Pasty{Title: "b.csv", Language: "CSV", Code: "name,\n\"<b>, \u202e\",2,3\n"}, paste.Pasty{Language: "TSV", Code: "x\ty"},
	))
	page := s.page("/k2j4x8m1")
	wantIn(t, page, `aria-label="Code of a.md as it is meant to be read"><h3>Head</h3>`, `<details><summary>Source</summary>`,
		`id="1-L1"><a tabindex="-1" href="#1-L1">1</a>`, `<a href="https://evil.example/cat.png" rel="nofollow">cat</a>`,
		`<th scope="col"><bdi>name</bdi></th><td></td></tr></thead>`, `<td><bdi>&lt;b&gt;, <bdi class="mark"`,
		`<th scope="col"><bdi>y</bdi></th>`)
	if strings.Contains(page, "<img src=\"https") || strings.Contains(page, "<script>") || strings.Count(page, "<details>") != 3 {
		t.Errorf("got %s, want neither images nor scripts of the paste, and all rendered", page)
	}
	if page := s.page("/k2j4x8m1?lang=golang"); strings.Contains(page, "<details>") || !strings.Contains(page, "<span>Go</span>") {
		t.Errorf("got %s, want the source as Go", page)
	}
	if _, err := s.get("/k2j4x8m1?lang=nonsense"); !fault.Is(err, fault.Invalid) {
		t.Errorf("got %v, want to be told that there is no such language", err)
	}
	s.holds("plain000", content(paste.Pasty{Language: "Plain Text", Code: "# Head"}))
	wantIn(t, s.page("/plain000?lang=markdown"), "<h3>Head</h3>")

	// A page renders a bounded number of bytes and cells.
	cells := strings.Repeat(strings.Repeat("1,", 99)+"1\n", maxRenderedCells/100-1)
	s.holds("bounds00", content(paste.Pasty{Language: "CSV", Code: cells}, paste.Pasty{Language: "CSV", Code: cells}))
	s.holds("bounds01", content(
		paste.Pasty{Language: "Markdown", Code: strings.Repeat("a\n\n", maxRenderedBytes/3)}, paste.Pasty{Language: "Markdown", Code: "abc"},
	))
	for _, path := range []string{"/bounds00", "/bounds01"} {
		if n := strings.Count(s.page(path), "<details>"); n != 1 {
			t.Errorf("%s: got %d rendered, want only the first", path, n)
		}
	}
}

func TestLanguagesOfAForm(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	page := s.page("/")
	common, others, ok := strings.Cut(page, `<optgroup label="Others">`)
	if !ok || !strings.Contains(common, `<optgroup label="Common"><option>C</option>`) || strings.Contains(others, "<option>Go</option>") ||
		!strings.Contains(others, "<option>ABAP</option>") {
		t.Errorf("got %s, want the common languages first, and none twice", page)
	}
	for _, name := range commonLanguages {
		if !strings.Contains(common, "<option>"+name+"</option>") {
			t.Errorf("got no language %s, want it to be one of the catalogue's", name)
		}
	}
}

// chosen is a file of a form.
type chosen struct{ name, content string }

// postsFiles sends a form as browsers do when files were chosen.
func (s *site) postsFiles(fields sent, files ...chosen) *httptest.ResponseRecorder {
	s.t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(fields); i += 2 {
		_ = w.WriteField(fields[i], fields[i+1]) // a buffer takes everything
	}
	for _, file := range files {
		part, err := w.CreateFormFile("file", file.name)
		if err != nil {
			s.t.Fatal(err)
		}
		_, _ = part.Write([]byte(file.content))
	}
	_ = w.Close()
	r := httptest.NewRequestWithContext(s.t.Context(), http.MethodPost, "/", &b)
	r.Header.Set("Content-Type", w.FormDataContentType())
	answer, err := s.answers(r)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer
}

func TestChosenFiles(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	blank := sent{"snippet", "", "name", "", "language", "Go", "code", ""}
	answer := s.postsFiles(blank, chosen{"main.go", "a\r\nb\x00"}, chosen{"ü \"x\".txt", ""})
	if answer.Code != http.StatusSeeOther {
		t.Fatalf("got %d %s, want a paste", answer.Code, answer.Body)
	}
	stored := s.stored(answer.Header().Get("Location"))
	if want := `"" unlisted [] "main.go" Autodetect "a\nb\x00" "ü \"x\".txt" Autodetect ""`; summary(stored) != want {
		t.Errorf("got %s, want %s", summary(stored), want)
	}
	answer = s.postsFiles(sent{"name", "", "language", "Go", "code", "typed"}, chosen{"", ""})
	if answer.Code != http.StatusSeeOther || len(s.stored(answer.Header().Get("Location")).Pasties) != 1 {
		t.Errorf("got %d %s, want what was typed alone", answer.Code, answer.Body)
	}
	answer = s.postsFiles(blank, chosen{"a.txt", "kept"}, chosen{"<cat>.png", "\x89PNG"})
	if answer.Code != http.StatusBadRequest {
		t.Errorf("got %d, want the form again", answer.Code)
	}
	wantIn(t, answer.Body.String(), "Not text in UTF-8, and left out: &lt;cat&gt;.png.", "\nkept</textarea>", `value="a.txt"`,
		`aria-describedby="files-problem"`)
}
