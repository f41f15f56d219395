package pages

import (
	"context"
	"fmt"
	"html"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alecthomas/chroma/v2"

	"github.com/gluepot/gluepot/adapters/catalogue"
	"github.com/gluepot/gluepot/application/languages"
	"github.com/gluepot/gluepot/domain/paste"
)

// patience is a budget that no machine is too slow for.
const patience = time.Minute

func newTestHighlighter(keptBytes int) *highlighter {
	return newHighlighter(newLexers(languages.New(catalogue.New())), keptBytes, patience)
}

var elements = regexp.MustCompile(`<[^>]*>`)

// shown returns the text of lines in HTML, without their numbers.
func shown(lines []byte) string {
	text := regexp.MustCompile(`<a [^>]*>\d+</a>`).ReplaceAllString(string(lines), "")
	return html.UnescapeString(elements.ReplaceAllString(text, ""))
}

func TestHighlight(t *testing.T) {
	t.Parallel()
	h := newTestHighlighter(1 << 20)
	const code = "package main\n\n// a comment\nfunc main() { println(\"</script>\", `a\nb`) }"
	got := h.highlight(t.Context(), codeKey{language: "Go", before: "2-"}, code)
	for _, want := range []string{
		`<span class="line" id="2-L1"><a tabindex="-1" href="#2-L1">1</a><span class="k">package</span> main` + "\n</span>",
		`<span class="line" id="2-L2"><a tabindex="-1" href="#2-L2">2</a>` + "\n</span>",
		`<span class="c">// a comment</span>` + "\n</span>",
		`<span class="s">&#34;&lt;/script&gt;&#34;</span>`,
		`<span class="s">` + "`a</span>\n</span>" + `<span class="line" id="2-L5">`,
		`<a tabindex="-1" href="#2-L5">5</a><span class="s">b` + "`</span>",
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("got %s, want %s in it", got, want)
		}
	}
	if text := shown(got); text != code {
		t.Errorf("got the text %q, want %q", text, code)
	}
	for language, code := range map[string]string{
		"Plain Text": code, "unknown": code, "Go": strings.Repeat("x", maxHighlighted+1),
	} {
		if got := h.highlight(t.Context(), codeKey{language: language, code: 1}, code); got != nil {
			t.Errorf("%s: got %.100s, want nothing", language, got)
		}
	}
}

// TestHighlightGivesUp needs no slow code: a budget that is over at once is as good.
func TestHighlightGivesUp(t *testing.T) {
	t.Parallel()
	h := newTestHighlighter(1 << 20)
	h.budget = 0
	code := strings.Repeat("a := 1\n", 1000)
	if html, err := h.make(codeKey{language: "Go"}, code); err != errSlow { //nolint:errorlint // it is returned as it is
		t.Errorf("got %d bytes and %v, want %v", len(html), err, errSlow)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h.budget = patience
	for range cap(h.places) { // all are taken
		h.places <- struct{}{}
	}
	if got := h.highlight(ctx, codeKey{language: "Go"}, code); got != nil {
		t.Errorf("got %d bytes, want none without a place", len(got))
	}
}

// slowLexer takes a while for each token.
type slowLexer struct {
	chroma.Lexer

	asked int
}

func (l *slowLexer) Tokenise(*chroma.TokeniseOptions, string) (chroma.Iterator, error) {
	return func() chroma.Token {
		l.asked++
		time.Sleep(10 * time.Millisecond)
		return chroma.Token{Type: chroma.Text, Value: "x"}
	}, nil
}

// TestHighlightOfSlowTokens has tokens that take longer than the whole code may, as code can be made to: it is given up at once, and
// does not take the processor from others.
func TestHighlightOfSlowTokens(t *testing.T) {
	t.Parallel()
	h, slow := newTestHighlighter(1<<20), new(slowLexer)
	h.budget = time.Millisecond
	h.lexers.byName = func() map[string]chroma.Lexer { return map[string]chroma.Lexer{"go": slow} }
	if _, err := h.make(codeKey{language: "Go"}, strings.Repeat("x", 100)); err != errSlow || slow.asked != 1 { //nolint:errorlint // as above
		t.Errorf("got %v after %d tokens, want %v after the first", err, slow.asked, errSlow)
	}
}

// TestLexersThatGoRound has a text over which one of chroma's lexers goes round in circles.
func TestLexersThatGoRound(t *testing.T) {
	t.Parallel()
	h := newTestHighlighter(1 << 20)
	h.budget = 100 * time.Millisecond
	lexerNames := h.lexers.byName()
	h.lexers.byName = func() map[string]chroma.Lexer { return map[string]chroma.Lexer{"go": lexerNames["jungle"]} }
	if _, err := h.make(codeKey{language: "Go"}, "package main // comment\n\n/* a */ func f(x int) string"); err == nil {
		t.Error("got no error, want one: is the lexer mended? Then there is another one to be found")
	}
}

func TestHighlightAtOnce(t *testing.T) {
	t.Parallel()
	h := newTestHighlighter(1 << 20)
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			code := fmt.Sprintf("x := %d\n", i%5)
			if got := shown(h.highlight(t.Context(), codeKey{language: "Go", code: uint64(i % 5)}, code)); got != code {
				t.Errorf("got %q, want %q", got, code)
			}
		})
	}
	all.Wait()
	if len(h.kept.entries) != 5 || len(h.flying) != 0 {
		t.Errorf("got %d kept and %d under way, want 5 and none", len(h.kept.entries), len(h.flying))
	}
}

func TestKept(t *testing.T) {
	t.Parallel()
	now := time.Now()
	k := newKept(10_000)
	key := func(i int) codeKey { return codeKey{code: uint64(i)} }
	for i := range 100 {
		k.put(key(i), make([]byte, 1000), now)
		if _, ok := k.get(key(0), now); i < 90 && !ok {
			t.Fatalf("after %d: got nothing for what was used last, want it", i)
		}
		if k.size > k.limit {
			t.Fatalf("got %d bytes, want at most %d", k.size, k.limit)
		}
	}
	if len(k.entries) != 6 || k.recent.Len() != 6 {
		t.Errorf("got %d entries, want 6 of 1512 bytes", len(k.entries))
	}
	k.put(key(1), make([]byte, 20_000), now)
	if html, ok := k.get(key(1), now); !ok || len(html) != 20_000 || len(k.entries) != 1 {
		t.Errorf("got %d bytes among %d entries, want one that is larger than the limit alone", len(html), len(k.entries))
	}
	k.put(key(2), nil, now)
	if html, ok := k.get(key(2), now.Add(failedFor)); html != nil || !ok {
		t.Errorf("got %v %v, want that it failed", html, ok)
	}
	if _, ok := k.get(key(2), now.Add(failedFor+1)); ok || len(k.entries) != 0 || k.size != 0 {
		t.Errorf("got it, or %d entries of %d bytes, want none after a while", len(k.entries), k.size)
	}
}

// TestManySlowCodes has a paste whose codes all take too long: together they have the time of a few.
func TestManySlowCodes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.cfg.HighlightTime = 20 * time.Millisecond
	s.colours.budget = s.cfg.HighlightTime
	for range cap(s.colours.places) { // none becomes free
		s.colours.places <- struct{}{}
	}
	pasties := make([]paste.Pasty, 200)
	for i := range pasties {
		pasties[i] = paste.Pasty{Language: "Go", Code: fmt.Sprintf("x := %d\n", i)}
	}
	s.holds("k2j4x8m1", content(pasties...))
	began := time.Now()
	wantIn(t, s.page("/k2j4x8m1"), "x := 199")
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("a page took %v, want a tenth of a second and what writing it takes", took)
	}
}
