package pastes_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"hash/crc32"
	"image"
	"image/png"
	"regexp"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/visit"
)

const jupyter = "Jupyter Notebook"

// pictureOf returns a PNG picture of that size as base64. If says is not 0, its header has that size instead.
func pictureOf(t *testing.T, width, height int, says uint32) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	file := b.Bytes()
	if says > 0 {
		header := file[12:29] // the chunk IHDR with its type
		for at := range 8 {
			header[4+at] = byte(says >> (24 - 8*(at%4)))
		}
		sum := crc32.ChecksumIEEE(header)
		copy(file[29:33], []byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)})
	}
	return base64.StdEncoding.EncodeToString(file)
}

// notebookOf returns a notebook with these cells, as JSON.
func notebookOf(t *testing.T, cells ...map[string]any) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{
		"cells": cells, "nbformat": 4, "metadata": map[string]any{"language_info": map[string]any{"name": "python"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestNotebook renders cells and outputs of each kind.
func TestNotebook(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	picture := pictureOf(t, 3, 2, 0)
	output := func(data map[string]any) map[string]any {
		return map[string]any{"output_type": "display_data", "data": data}
	}
	code := notebookOf(t,
		map[string]any{"cell_type": "markdown", "source": []string{"# Head\n",
			"<img src=x onerror=alert(1)><script>x()</script>\n"}},
		map[string]any{"cell_type": "code", "execution_count": 3, "source": "def f(): return '<b>'", "outputs": []any{
			map[string]any{"output_type": "stream", "text": []string{"one </pre><script>x()</script>\n",
				"\x1b[31mred\x1b[0m\n"}},
			output(map[string]any{"image/png": picture[:20] + "\n" + picture[20:], "text/plain": "<Figure>"}),
			output(map[string]any{"text/html": "<script>x()</script>", "text/plain": []string{"a table"}}),
			output(map[string]any{"text/html": "<script>x()</script>"}),
			output(map[string]any{"image/svg+xml": "<svg onload=x()>", "application/javascript": "x()"}),
			output(map[string]any{"image/png": "not base64 \"><script>x()</script>"}),
			output(map[string]any{"image/png": base64.StdEncoding.EncodeToString([]byte("GIF89a"))}),
			output(map[string]any{"image/png": pictureOf(t, 1, 1, 50_000)}),
			map[string]any{"output_type": "error", "ename": "NameError", "evalue": "x",
				"traceback": []string{"\x1b[0;31mNameError\x1b[0m: x"}},
		}},
		map[string]any{"cell_type": "raw", "source": "raw <i>"},
	)
	s.Holds("notebook", visit.Content(paste.Pasty{Title: "a.ipynb", Language: jupyter, Code: code}))
	answer, err := s.Get("/notebook")
	if err != nil {
		t.Fatal(err)
	}
	page, source, _ := strings.Cut(answer.Body.String(), "<details><summary>Source</summary>")
	_, page, _ = strings.Cut(page, `class="notebook"`)
	visit.WantIn(t, page, `<h3 id="user-content-head">Head <a`, "In [3]", `<span class="k">def</span>`,
		"one &lt;/pre&gt;&lt;script&gt;",
		"\nred\n", `<img alt="Output" src="data:image/png;base64,`+picture+`">`, "a table", "NameError: x", "raw &lt;i&gt;")
	if strings.Contains(page, "<script>") || strings.Contains(page, "onerror") || strings.Contains(page, "onload") ||
		strings.Contains(page, "&lt;Figure") || strings.Count(page, "<img alt=\"Output\"") != 1 ||
		strings.Count(page, "This output cannot be shown here.") != 5 {
		t.Errorf("got %s, want one picture, and nothing of what is not shown", page)
	}
	visit.WantIn(t, source, `id="L1"`)
	for path, want := range map[string]string{"/notebook": "img-src 'self' data:;",
		"/notebook/embed":   "img-src 'self' data:;",
		"/notebook/history": "img-src 'self';", "/notebook?lang=json": "img-src 'self';"} {
		answer, err := s.Get(path)
		if err != nil {
			t.Fatal(err)
		}
		if policy := answer.Header().Get("Content-Security-Policy"); !strings.Contains(policy, want) ||
			strings.Contains(policy, "unsafe") {
			t.Errorf("%s: got the policy %s, want %s", path, policy, want)
		}
	}
}

// TestIDsOfCells renders cells with the same headings, ids and footnotes. No id may occur twice, a footnote's links
// stay in its cell, and other links lead to other cells.
func TestIDsOfCells(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	text := map[string]any{"cell_type": "markdown",
		"source": "# Use\n\n[up](#use) a[^1] b[^1]\n\n<a id=\"own\"></a>c\n\n<h2 id=\"fn:1\">d</h2>\n\n[^1]: note\n"}
	s.Holds("notebook", visit.Content(paste.Pasty{Language: jupyter, Code: notebookOf(t, text, text, text)}))
	page, _, _ := strings.Cut(s.Page("/notebook"), "<details><summary>Source</summary>")
	count := map[string]int{}
	for _, match := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		count[match[1]]++
	}
	for id, n := range count {
		if n > 1 {
			t.Errorf("got the id %s %d times, want it once", id, n)
		}
	}
	for _, match := range regexp.MustCompile(` href="#(user-[^"]*)"`).FindAllStringSubmatch(page, -1) {
		if count[match[1]] != 1 {
			t.Errorf("got a link to %s, want one element with that id", match[1])
		}
	}
	visit.WantIn(t, page, `id="user-content-use-2"`, `href="#user-content-use">up`, `id="user-content-own"`,
		`href="#user-content-3-fn:1"`, `id="user-content-3-fnref1:1"`)
}

// TestHostileNotebooks opens invalid notebooks, whose source is shown, and expensive ones. Every page has a bounded
// size.
func TestHostileNotebooks(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	picture := pictureOf(t, 1, 1, 0)
	pictures := make([]any, 300)
	for i := range pictures {
		pictures[i] = map[string]any{"output_type": "display_data", "data": map[string]any{"image/png": picture}}
	}
	large := strings.Repeat(`{"cell_type":"markdown","source":"`+strings.Repeat("*a", 3000)+`"},`, 100)
	for name, c := range map[string]struct {
		code     string
		rendered bool
	}{
		"nested":         {strings.Repeat("[", 500_000), false},
		"cells of cells": {`{"nbformat":4,"cells":` + strings.Repeat(`[`, 9_000) + strings.Repeat(`]`, 9_000) + `}`, false},
		"data nested": {`{"nbformat":4,"cells":[{"cell_type":"code","source":"x","outputs":[{"data":{"text/plain":` +
			strings.Repeat(`[`, 9_000) + strings.Repeat(`]`, 9_000) + `}}]}]}`, true},
		"many cells":  {`{"nbformat":4,"cells":[{}` + strings.Repeat(",{}", 500_000) + `]}`, false},
		"many lines":  {`{"nbformat":4,"cells":[{"source":[""` + strings.Repeat(`,""`, 500_000) + `]}]}`, false},
		"Markdown":    {`{"nbformat":4,"cells":[` + strings.TrimSuffix(large, ",") + `]}`, false},
		"wrong types": {`{"nbformat":4,"cells":[{"cell_type":5,"source":{"a":1}}]}`, false},
		"no cells":    {`{"nbformat":4}`, false},
		"old":         {`{"nbformat":3,"worksheets":[{"cells":[{}]}]}`, false},
		"cut":         {`{"nbformat":4,"cells":[{"cell_type":"markdown"`, false},
		"no text":     {"\xff\xfe\x00", false},
		"null":        {"null", false},
		"pictures":    {notebookOf(t, map[string]any{"cell_type": "code", "source": "x", "outputs": pictures}), true},
	} {
		t.Run(name, func(t *testing.T) {
			id := strings.ReplaceAll((name + "--------")[:8], " ", "-")
			s.Holds(id, visit.Content(paste.Pasty{Language: jupyter, Code: c.code}))
			page := s.Page("/" + id)
			if got := strings.Contains(page, `class="notebook"`); got != c.rendered || len(page) > 100_000+30*len(c.code) {
				t.Errorf("got it rendered: %t, in %d bytes, want %t, and at most 30 times its %d", got, len(page),
					c.rendered, len(c.code))
			}
			if n := strings.Count(page, "<img alt=\"Output\""); n > 100 {
				t.Errorf("got %d pictures, want at most 100", n)
			}
		})
	}
}
