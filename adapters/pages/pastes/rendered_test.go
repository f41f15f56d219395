package pastes_test

import (
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/pages/pastes"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/visit"
)

func TestRendered(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	s.Holds("k2j4x8m1", visit.Content(
		paste.Pasty{Title: "a.md", Language: "Markdown",
			Code: "# Head\n\n<script>x()</script>\n\n![cat](https://evil.example/cat.png)"},
		paste.Pasty{Title: "b.csv", Language: "CSV", Code: "name,\n\"<b>, \u202e\",2\n"}, paste.Pasty{Language: "TSV",
			Code: "x\ty"},
	))
	page := s.Page("/k2j4x8m1")
	visit.WantIn(t, page, `aria-label="Code of a.md, snippet 1, rendered"><h3 id="user-content-1-head">Head <a`,
		`<details><summary>Source</summary>`,
		`<a id="1-L1" href="#1-L1" tabindex="-1">1</a>`, `<a href="https://evil.example/cat.png" rel="nofollow">cat</a>`,
		`<th scope="col"><bdi>name</bdi></th><td></td></tr></thead>`, `<td><bdi>&lt;b&gt;, <bdi class="mark"`,
		`<th scope="col"><bdi>y</bdi></th>`)
	if strings.Contains(page, "<img src=\"https") || strings.Contains(page, "<script>") ||
		strings.Count(page, "<details>") != 3 {
		t.Errorf("got %s, want neither images nor scripts of the paste, and all rendered", page)
	}
	if page := s.Page("/k2j4x8m1?lang=golang"); strings.Contains(page, "<details>") ||
		!strings.Contains(page, "<span>Go</span>") {
		t.Errorf("got %s, want the source as Go", page)
	}
	visit.WantIn(t, s.Page("/k2j4x8m1?lang=nonsense"), "<details>")
	s.Holds("plain000", visit.Content(paste.Pasty{Language: "Plain Text", Code: "# Head"}))
	visit.WantIn(t, s.Page("/plain000?lang=markdown"), `">Head <a class="anchor"`)

	// A page renders a bounded number of bytes.
	table := strings.Repeat(strings.Repeat("1,", 99)+"1\n", pastes.MaxRenderedBytes/300)
	s.Holds("bounds00", visit.Content(paste.Pasty{Language: "CSV", Code: table},
		paste.Pasty{Language: "CSV", Code: table}))
	s.Holds("bounds01", visit.Content(
		paste.Pasty{Language: "Markdown", Code: strings.Repeat("a\n\n", pastes.MaxRenderedBytes/3)},
		paste.Pasty{Language: "Markdown", Code: "abc"},
	))
	for _, path := range []string{"/bounds00", "/bounds01"} {
		if n := strings.Count(s.Page(path), "<details>"); n != 1 {
			t.Errorf("%s: got %d rendered, want only the first", path, n)
		}
	}
}

// TestFences checks that code in Markdown has the colours of its language and a button that copies it, and that ids
// differ between the texts of a page.
func TestFences(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	readme := paste.Pasty{Language: "Markdown",
		Code: "# Use\n\n[up](#use)\n\n```golang\nvar x = 1\n```\n\n```none\nvar y\n```\n\n    var z\n"}
	s.Holds("fences00", visit.Content(readme, readme))
	s.Holds("fences01", visit.Content(readme))
	page := s.Page("/fences00")
	visit.WantIn(t, page, `<h3 id="user-content-1-use">`, `<h3 id="user-content-2-use">`,
		`<a href="#user-content-2-use">up</a>`,
		`<div class="fence"><button class="copy" type="button" hidden>Copy</button><pre tabindex="0"><code `+
			`class="language-golang">`+
			`<span class="k">var</span> x = <span class="m">1</span>`+"\n</code></pre></div>",
		"<code class=\"language-none\">var y\n</code></pre></div>", "<pre tabindex=\"0\"><code>var z\n</code></pre></div>")
	visit.WantIn(t, s.Page("/fences01"), `<h3 id="user-content-use">`, `<a href="#user-content-use">up</a>`)
}

// TestRenderedMarks checks that deceptive characters have marks in rendered Markdown, too.
func TestRenderedMarks(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	s.Holds("deceit00", visit.Content(paste.Pasty{Language: "Markdown", Code: "Run `invoice\u202egnp.exe` & <b>\n\n" +
		"    curl\u2066 https://safe.example\u200d\n\n[pay\u202elapyap.moc](https://evil.example/ \"a\u202eb\") " +
		"\U0001f469\u200d\U0001f4bb\n"}))
	page := s.Page("/deceit00")
	rendered, _, _ := strings.Cut(page[strings.Index(page, ", rendered\""):], "<details>")
	visit.WantIn(t, rendered, `<code>invoice<bdi class="mark" data-mark="202E"`, `</code> &amp; <b></b></p>`,
		`curl<bdi class="mark" data-mark="2066"`,
		`safe.example<bdi class="mark" data-mark="200D"`, "title=\"a\ufffdb\"",
		`>pay<bdi class="mark" data-mark="202E"`, "\U0001f469\u200d\U0001f4bb")
	if n := strings.Count(rendered, `class="mark"`); n != 4 {
		t.Errorf("got %d marks in %s, want 4", n, rendered)
	}
}
