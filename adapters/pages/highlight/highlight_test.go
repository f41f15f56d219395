package highlight

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alecthomas/chroma/v2"

	"github.com/gluepot/gluepot/adapters/catalogue"
	"github.com/gluepot/gluepot/application/languages"
)

// patience is a budget that no machine is too slow for.
const patience = time.Minute

func newTestHighlighter(budget time.Duration) *Highlighter {
	return New(languages.New(catalogue.New()), budget)
}

// shown returns the parts of a code with their classes.
func shown(code string, spans []Span) string {
	var b strings.Builder
	for _, span := range spans {
		if span.Class != 0 {
			fmt.Fprintf(&b, "%c{%s}", span.Class, code[:span.Length])
		} else {
			b.WriteString(code[:span.Length])
		}
		code = code[span.Length:]
	}
	return b.String() + code
}

func TestSpans(t *testing.T) {
	t.Parallel()
	h := newTestHighlighter(patience)
	for _, c := range []struct{ language, code, want string }{
		{"Go", "package main\n// a comment", "k{package} main\nc{// a comment}"},
		{"Go", "func f() { g(\"</script>\", `a\nb`, 1) }", "k{func} f{f}() { f{g}(s{\"</script>\"}, s{`a\nb`}, m{1}) }"},
		{"GitHub Flavored Markdown", "# A\n*b*\n```go\nvar x\n```\n", ""},
		{"JSON", `{"a": true}`, `{k{"a"}: m{true}}`},
		{"Python", "def f(x):\n\treturn None", "k{def} f{f}(x):\n\tk{return} m{None}"},
	} {
		got := shown(c.code, h.Spans(t.Context(), "", c.language, c.code))
		if c.want != "" && got != c.want || got == c.code {
			t.Errorf("%s: got %s, want %s", c.language, got, c.want)
		}
	}
	for language, code := range map[string]string{
		"Plain Text": "package main", "unknown": "package main", "Go": strings.Repeat("x", maxCode+1), "Rust": "fn main() {} // \xff",
	} {
		if got := h.Spans(t.Context(), "", language, code); got != nil {
			t.Errorf("%s: got %d spans, want plain text", language, len(got))
		}
	}
}

// TestNames holds that the names of lexers are those of chroma, and those of languages are the catalogue's.
func TestNames(t *testing.T) {
	t.Parallel()
	known := languages.New(catalogue.New())
	found := 0
	for language, lexer := range lexerNames {
		if _, err := known.FindByName.Do(language); err != nil || lexer != "" && lexersByName()[strings.ToLower(lexer)] == nil {
			t.Errorf("%s and %s: got no such language or lexer, want both", language, lexer)
		}
	}
	for _, language := range known.List.Do() {
		if lexerOf(language.Name, known) != nil {
			found++
		}
	}
	if found < 250 {
		t.Errorf("got lexers for %d languages, want 250 or more", found)
	}
}

// TestGivesUp has a lexer that yields tokens without an end, and one that takes longer than the budget for each.
func TestGivesUp(t *testing.T) {
	t.Parallel()
	h := newTestHighlighter(50 * time.Millisecond)
	h.lexer = func(string) chroma.Lexer { return lexersByName()["jungle"] }
	if got := h.tokenise("Go", "package main // comment\n\n/* a */ func f(x int) string"); got != nil {
		t.Errorf("got %v, want nothing: is the lexer mended? Then JSONata's is another", got)
	}
	slow := new(slowLexer)
	h.budget = time.Millisecond
	h.lexer = func(string) chroma.Lexer { return slow }
	if got := h.tokenise("Go", strings.Repeat("x", 100)); got != nil || slow.asked != 1 {
		t.Errorf("got %v after %d tokens, want nothing after the first", got, slow.asked)
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

// panickingLexer is one that a code has broken.
type panickingLexer struct{ chroma.Lexer }

func (panickingLexer) Tokenise(*chroma.TokeniseOptions, string) (chroma.Iterator, error) {
	panic("unknown state")
}

func TestPanic(t *testing.T) {
	t.Parallel()
	h := newTestHighlighter(patience)
	h.lexer = func(string) chroma.Lexer { return panickingLexer{} }
	if got := h.Spans(t.Context(), "", "Go", "x"); got != nil {
		t.Errorf("got %v, want plain text", got)
	}
}

// TestWaits has all slots taken: a page gives up when its budget is over, or its request.
func TestWaits(t *testing.T) {
	t.Parallel()
	h := newTestHighlighter(20 * time.Millisecond)
	for range cap(h.slots) {
		h.slots <- struct{}{}
	}
	if got := h.Spans(t.Context(), "", "Go", "package main"); got != nil {
		t.Errorf("got %v, want plain text", got)
	}
	h.budget = patience
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := h.Spans(ctx, "", "Go", "package main"); got != nil {
		t.Errorf("got %v, want plain text", got)
	}
	<-h.slots
	for end := time.Now().Add(10 * time.Second); h.Spans(t.Context(), "", "Go", "package main") == nil; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("got plain text, want that waiting in vain is not remembered")
		}
	}
}

func TestAtOnce(t *testing.T) {
	t.Parallel()
	h := newTestHighlighter(patience)
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			code := fmt.Sprintf("x := %d\n", i%5)
			if got, want := shown(code, h.Spans(t.Context(), "", "Go", code)), fmt.Sprintf("x := m{%d}\n", i%5); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	all.Wait()
	if n := h.cache.entries.Len(); n != 5 {
		t.Errorf("got %d entries, want 5", n)
	}
}

func TestCache(t *testing.T) {
	t.Parallel()
	now := time.Now()
	c := newCache(10_000)
	for i := range 100 {
		c.put(fmt.Sprint(i), make([]Span, 100), now)
		if _, ok := c.get("0", now); i < 90 && !ok {
			t.Fatalf("after %d: got nothing for what was used last, want it", i)
		}
		if c.size > c.limit {
			t.Fatalf("got %d bytes, want at most %d", c.size, c.limit)
		}
	}
	if n := c.entries.Len(); n != 9 {
		t.Errorf("got %d entries, want 9 of about 1,100 bytes", n)
	}
	c.put("large", make([]Span, 10_000), now)
	if c.entries.Len() != 0 || c.size != 0 {
		t.Errorf("got %d entries of %d bytes, want none after one that is larger than the limit", c.entries.Len(), c.size)
	}
	c.put("failed", nil, now)
	if spans, ok := c.get("failed", now.Add(failedFor)); spans != nil || !ok {
		t.Errorf("got %v, %v, want that it failed", spans, ok)
	}
	if _, ok := c.get("failed", now.Add(failedFor+1)); ok || c.size != 0 {
		t.Errorf("got it, or %d bytes, want none after a while", c.size)
	}
}
