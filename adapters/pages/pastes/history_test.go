package pastes_test

import (
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/visit"
)

func TestHistory(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	at := time.Date(2026, 11, 21, 23, 0, 0, 0, time.UTC)
	document := visit.Content(paste.Pasty{ID: "a", Title: "main.go", Language: "Go", Code: "a\nB\n"},
		paste.Pasty{ID: "b", Language: "C"})
	document.Title = "Third"
	document.Edits = []paste.Edit{
		{Number: 0, Type: paste.EditTitle, Text: "<First>", At: at},
		{Number: 1, Type: paste.EditTitle, Text: "Second", At: at.Add(time.Minute)},
		{Number: 1, Type: paste.EditPastyTitle, Metadata: []string{"a"}, Text: "", At: at.Add(time.Minute)},
		{Number: 1, Type: paste.EditPastyLanguage, Metadata: []string{"a"}, Text: "Rust", At: at.Add(time.Minute)},
		{Number: 1, Type: paste.EditPastyCode, Metadata: []string{"a"}, At: at.Add(time.Minute),
			Text: paste.DiffHeader + "@@ -1,2 +1,2 @@\n a\n-b</code>\n+B\n"},
		{Number: 1, Type: paste.EditPastyRemoved, Metadata: []string{"c", "gone.c", "C"}, Text: "x\u202e\n",
			At: at.Add(time.Minute)},
		{Number: 1, Type: paste.EditPastyAdded, Metadata: []string{"b", "new.c", "C"}, Text: "y", At: at.Add(time.Minute)},
		{Number: 2, Type: 99, At: at.Add(time.Hour)}, // as imports can have
		{Number: 3, Type: paste.EditPastyCode, Text: strings.Repeat("+", site.MaxShownBytes+1), At: at.Add(time.Hour)},
	}
	s.Holds("k2j4x8m1", document)
	page := s.Page("/k2j4x8m1/history")
	visit.WantIn(t, page,
		`Title: <del><bdi>&lt;First&gt;</bdi></del> → <ins><bdi>Second</bdi></ins>`,
		`Title: <del><bdi>Second</bdi></del> → <ins><bdi>Third</bdi></ins>`,
		`Name: <del><bdi>Snippet 1</bdi></del> → <ins><bdi>main.go</bdi></ins>`,
		`Language of <bdi>main.go</bdi>: <del><bdi>Rust</bdi></del>`,
		`<span class="diff hunk" data-lines="            ">@@ -1,2 +1,2 @@`+"\n</span>",
		`<span class="diff " data-lines="    1     1 ">`+" a\n</span>",
		`<span class="diff d" data-lines="    2       ">-b&lt;/code&gt;`,
		`<span class="diff n" data-lines="          2 ">+B`, `<p class="change">Removed <bdi>gone.c</bdi></p>`,
		`<span class="diff d" data-lines="    1       ">-x<bdi class="mark" data-mark="202E"`,
		`<p class="change">Added <bdi>new.c</bdi></p>`, `<span class="diff n" data-lines="          1 ">+y`,
		"Too long to show here.",
	)
	if strings.Index(page, "Second</bdi></del>") > strings.Index(page, "&lt;First&gt;") || strings.Contains(page, "+++") {
		t.Error("got the oldest edit first, or the header of a difference, want neither")
	}
	if n := strings.Count(page, `class="edit"`); n != 4 {
		t.Errorf("got %d edits, want 4", n)
	}
	visit.WantIn(t, s.Page("/k2j4x8m1"), `href="/k2j4x8m1/history"`)
	if _, err := s.Get("/unknown0/history"); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v, want fault.NotFound", err)
	}
}

// TestLongHistory renders the longest titles, and as many lines as fit.
func TestLongHistory(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	document := visit.Content(paste.Pasty{ID: "a", Title: strings.Repeat("'", 4096), Language: "Go", Code: "a"})
	for i := range 1000 {
		document.Edits = append(document.Edits,
			paste.Edit{Number: int64(i), Type: paste.EditPastyTitle, Metadata: []string{"a"}, Text: strings.Repeat("'", 4096)})
	}
	s.Holds("k2j4x8m1", document)
	if page := s.Page("/k2j4x8m1/history"); len(page) > 6*site.MaxShownBytes {
		t.Fatalf("got a page of %d bytes, want at most %d", len(page), 6*site.MaxShownBytes)
	}
	document.Edits = []paste.Edit{{
		Type: paste.EditPastyAdded, Metadata: []string{"a", "", "Go"}, Text: strings.Repeat("\n", site.MaxShownBytes),
	}}
	s.Holds("k2j4x8m2", document)
	page := s.Page("/k2j4x8m2/history")
	if len(page) > 6*site.MaxShownBytes {
		t.Fatalf("got a page of %d bytes, want at most %d", len(page), 6*site.MaxShownBytes)
	}
	visit.WantIn(t, page, "Too long to show here.")
}

func TestRevision(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	epoxy := s.User("Epoxy", true)
	_, secret := s.Session("epoxy")
	document := visit.Content(paste.Pasty{ID: "a", Title: "main.go", Language: "Go", Code: "second"})
	document.Owner, document.Visibility, document.Title = epoxy, paste.Private, "Second"
	at := time.Date(2026, 11, 21, 23, 0, 0, 0, time.UTC)
	document.Edits = []paste.Edit{
		{Number: 4, Type: paste.EditTitle, Text: "<First>", At: at},
		{Number: 4, Type: paste.EditPastyCode, Metadata: []string{"a"}, At: at,
			Text: paste.DiffHeader +
				"@@ -1 +1 @@\n-first\n\\ No newline at end of file\n+second\n\\ No newline at end of file\n"},
	}
	s.Holds("private0", document)
	if _, err := s.Get("/private0/history/original"); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v for a visitor, want fault.NotFound", err)
	}
	s.Secret = secret
	visit.WantIn(t, s.Page("/private0/history"), `href="/private0/history/4"`, `href="/private0/history/original"`)
	visit.WantIn(t, s.Page("/private0/history/4"), "<bdi>Second</bdi>", "as edited", "second")
	page := s.Page("/private0/history/original")
	visit.WantIn(t, page, "<bdi>&lt;First&gt;</bdi>", "first", `href="/private0/raw/a/original"`,
		`href="/private0/download/a/original"`,
		`<form method="post" action="/private0/history/original">`)
	if strings.Contains(page, "second") {
		t.Errorf("got %s, want only the first code", page)
	}
	for path, disposition := range map[string]string{
		"/private0/raw/a/original": "", "/private0/download/a/original": "attachment; filename=main.go",
	} {
		answer, err := s.Get(path)
		if err != nil || answer.Body.String() != "first" || answer.Header().Get("Content-Disposition") != disposition {
			t.Errorf("%s: got %v, %v %q, want the first code", path, err, answer.Header(), answer.Body)
		}
	}
	if at := s.Lands("/private0/history/original", nil); at != "/private0" {
		t.Errorf("got %s, want the paste", at)
	}
	visit.WantIn(t, s.Page("/private0"), "<bdi>&lt;First&gt;</bdi>", "first")
	document.Visibility = paste.Public
	s.Holds("public00", document)
	s.Secret = ""
	page = s.Page("/public00/history/original")
	visit.WantIn(t, page, `href="/api/v2/raw/public00/a/original"`)
	if strings.Contains(page, "<form method=\"post\"") {
		t.Errorf("got %s, want nothing to restore for a visitor", page)
	}
	for _, path := range []string{"/public00/history/0", "/public00/history/x", "/unknown0/history/original"} {
		if _, err := s.Get(path); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: got %v, want fault.NotFound", path, err)
		}
	}
	if _, err := s.Posts("/public00/history/original", nil); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("got %v for a visitor, want to be asked to sign in", err)
	}
}

// TestColoursOfHistory checks that the lines before an edit and those after it are coloured apart. A comment that
// begins on a line of one must not end on a line of the other.
func TestColoursOfHistory(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	document := visit.Content(paste.Pasty{ID: "a", Language: "Go", Code: "x"})
	document.Edits = []paste.Edit{
		{Type: paste.EditPastyCode, Metadata: []string{"a"}, Text: paste.DiffHeader +
			"@@ -1,3 +1,3 @@\n func f() {\n-\t/* begins\n+\tx := \"a\" // \u202e\n \t*/ return 1\n"},
		{Type: paste.EditPastyRemoved, Metadata: []string{"b", "gone.py", "Python"}, Text: "def <f>(): pass\n"},
	}
	s.Holds("k2j4x8m1", document)
	for range 2 { // the second time, the colours are in a cache
		visit.WantIn(t, s.Page("/k2j4x8m1/history"),
			"> <span class=\"k\">func</span> <span class=\"f\">f</span>() {\n</span>",
			">-\t<span class=\"c\">/* begins</span>\n</span>",
			">+\tx := <span class=\"s\">&#34;a&#34;</span> <span class=\"c\">// <bdi class=\"mark\"",
			"> \t*/ <span class=\"k\">return</span> <span class=\"m\">1</span>\n</span>",
			">-<span class=\"k\">def</span> &lt;f&gt;(): <span class=\"k\">pass</span>\n</span>")
	}
}

// TestChangedWords checks which words of a diff are marked.
func TestChangedWords(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	for name, c := range map[string]struct{ before, after, want string }{
		"word": {"x := first + 1", "x := second + 1",
			`-x := <span class="word">first</span> + 1|+x := <span class="word">second</span> + 1`},
		"added":   {"f(a, b)", "f(a, b, c)", `-f(a, b)|+f(a, b<span class="word">, c</span>)`},
		"another": {"all of it", "nothing here", `-all of it|+nothing here`},
		"characters": {"die Größe der Straße", "die Größe der Straßen",
			`-die Größe der <span class="word">Straße</span>|+die Größe der <span class="word">Straßen</span>`},
		"half a rune": {"a long line é", "a long line è",
			`-a long line <span class="word">é</span>|+a long line <span class="word">è</span>`},
	} {
		t.Run(name, func(t *testing.T) {
			id := strings.ReplaceAll((name + "--------")[:8], " ", "-")
			document := visit.Content(paste.Pasty{ID: "a", Code: c.after + "\n"})
			document.Edits = []paste.Edit{{Type: paste.EditPastyCode, Metadata: []string{"a"},
				Text: paste.DiffHeader + "@@ -1 +1 @@\n-" + c.before + "\n+" + c.after + "\n"}}
			s.Holds(id, document)
			page := s.Page("/" + id + "/history")
			for want := range strings.SplitSeq(c.want, "|") {
				visit.WantIn(t, page, ">"+want+"\n</span>")
			}
		})
	}
}
