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

func newTestHighlighter() *Highlighter { return New(languages.New(catalogue.New())) }

// coloursOf returns the parts of a code with their classes.
func coloursOf(h *Highlighter, language, code string) string {
	return describe(code, h.Colours(context.Background(), new(Page), "", language, code).Spans)
}

// describe returns the parts of a code with their classes.
func describe(code string, spans []Span) string {
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

func TestColours(t *testing.T) {
	t.Parallel()
	h := newTestHighlighter()
	for _, c := range []struct{ language, code, want string }{
		{"Go", "package main\n// a comment", "k{package} main\nc{// a comment}"},
		{"Go", "func f() { g(\"</script>\", `a\nb`, 1) }", "k{func} f{f}() { f{g}(s{\"</script>\"}, s{`a\nb`}, m{1}) }"},
		{"JSON", `{"a": true}`, `{k{"a"}: m{true}}`},
		{"Python", "def f(x):\n\treturn None", "k{def} f{f}(x):\n\tk{return} m{None}"},
		{"Rust", "fn f() {} // \xff", "k{fn} f{f}() {} // \xff"},
		{"Plain Text", "package main", "package main"},
		{"unknown", "package main", "package main"},
		{"Embedded Ruby", "<b><%= 1 %>", "<k{b}>p{<%=} m{1} p{%>}"},
	} {
		t.Run(c.language, func(t *testing.T) {
			t.Parallel()
			if got := coloursOf(h, c.language, c.code); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestNames checks that the names of lexers are chroma's, and those of languages the catalogue's.
func TestNames(t *testing.T) {
	t.Parallel()
	useCases := languages.New(catalogue.New())
	count := 0
	for language, lexer := range lexerNames {
		if _, err := useCases.FindByName.Do(language); err != nil || lexer != "" &&
			lexersByName()[strings.ToLower(lexer)] == nil {
			t.Errorf("%s and %s: got no such language or lexer, want both", language, lexer)
		}
	}
	for _, language := range useCases.List.Do() {
		if lexerOf(language.Name, useCases) != nil {
			count++
		}
	}
	if count < 250 {
		t.Errorf("got lexers for %d languages, want 250 or more", count)
	}
}

// lexerFunc is a lexer whose tokens a function makes.
type lexerFunc struct {
	chroma.Lexer

	next func() chroma.Token
}

func (l lexerFunc) Tokenise(*chroma.TokeniseOptions, string) (chroma.Iterator, error) {
	return l.next, nil
}

// with makes a highlighter use a lexer whose tokens the function makes.
func (h *Highlighter) with(next func() chroma.Token) *Highlighter {
	h.lexer = func(string) chroma.Lexer { return lexerFunc{next: next} }
	return h
}

// workFor returns a token after some processor time.
func workFor(work time.Duration) chroma.Token {
	for end := threadTime() + work; threadTime() < end; {
	}
	return chroma.Token{Type: chroma.Keyword, Value: "x"}
}

// TestWork checks that a lexer that works for too long is stopped, and that its tokens keep their colours. Time that it
// waits, as on a busy machine, does not count.
func TestWork(t *testing.T) {
	t.Parallel()
	code := strings.Repeat("x", 40)
	for name, c := range map[string]struct {
		next func() chroma.Token
		part bool
	}{
		"works":           {func() chroma.Token { return workFor(minMaxWork / 20) }, true},
		"yields for ever": {func() chroma.Token { return chroma.Token{Type: chroma.Text} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newTestHighlighter().with(c.next)
			got := h.Colours(t.Context(), new(Page), "", "Go", code)
			length := 0
			for _, span := range got.Spans {
				length += int(span.Length)
			}
			if got.Plain == 0 || got.Late || c.part && (got.Plain >= len(code) || length != len(code)) {
				t.Errorf("got %v, want a plain rest", got)
			}
			if again, ok := h.cache.Get(h.key("", "Go", code)); !ok || again.Plain != got.Plain {
				t.Errorf("got %v and %t in the cache, want %v", again, ok, got)
			}
		})
	}
	t.Run("waits", func(t *testing.T) {
		t.Parallel()
		remaining := len(code)
		h := newTestHighlighter().with(func() chroma.Token {
			if remaining--; remaining < 0 {
				return chroma.EOF
			}
			time.Sleep(minMaxWork / 20)
			return chroma.Token{Type: chroma.Keyword, Value: "x"}
		})
		if got := h.Colours(t.Context(), new(Page), "", "Go", code); got.Plain != 0 || len(got.Spans) != 1 {
			t.Errorf("got %v, want all of it", got)
		}
	})
}

// TestPageWork checks that a page with more code than its work allows begins no more of it, and that a later page does.
func TestPageWork(t *testing.T) {
	t.Parallel()
	h := newTestHighlighter().with(func() chroma.Token { return workFor(minMaxWork / 5) })
	count := func() (n int) {
		page := new(Page)
		for i := range 2 * int(maxPageWork/minMaxWork) {
			if got := h.Colours(t.Context(), page, fmt.Sprint(i), "Go", "xxxxxxxxxx"); !got.Late {
				n++
			}
		}
		return n
	}
	first := count()
	if most := int(maxPageWork / minMaxWork); first == 0 || first > most {
		t.Errorf("got %d codes with colours, want at most %d", first, most)
	}
	if again := count(); again <= first {
		t.Errorf("got %d codes with colours on a second page after %d, want more", again, first)
	}
}

// TestPreviewWork previews code whose lexer is slow. All previews of a page take a quarter of a second, the rest is
// plain, and nothing is cached.
func TestPreviewWork(t *testing.T) {
	t.Parallel()
	h := newTestHighlighter().with(func() chroma.Token { return workFor(maxPreviewWork / 50) })
	code, page, plain := strings.Repeat("x", maxCode), Page{Preview: true}, 0
	for range 5 {
		got := h.Colours(t.Context(), &page, "preview", "Go", code)
		if got.Late || got.Plain == 0 {
			t.Fatalf("got %d plain bytes, late: %t, want some, and nothing to reload", got.Plain, got.Late)
		}
		plain += got.Plain
	}
	if page.work < maxPreviewWork || page.work > maxPreviewWork+50*time.Millisecond {
		t.Errorf("got %v of work, want %v and a little for the last step", page.work, maxPreviewWork)
	}
	if plain >= 5*len(code) {
		t.Error("got no colours, want some")
	}
	if n := h.cache.Len(); n > 0 {
		t.Errorf("got %d entries in the cache, want none", n)
	}
}

// TestLong checks that long code has colours up to the limit.
func TestLong(t *testing.T) {
	t.Parallel()
	h := newTestHighlighter()
	line := "package main // a\n"
	code := strings.Repeat(line, maxCode/len(line)+100)
	got := h.Colours(t.Context(), new(Page), "", "Go", code)
	end := len(code) - got.Plain
	if end > maxCode || end < maxCode-len(line) || !strings.HasSuffix(code[:end], "\n") || got.Spans == nil {
		t.Errorf("got colours for %d bytes, want them to end with the last line before %d", end, maxCode)
	}
	got = h.Colours(t.Context(), new(Page), "", "JSON", "["+strings.Repeat("10,", maxCode))
	if got.Plain < 2*maxCode || got.Plain > 2*maxCode+10 && !raceDetector { // its work is bounded, too
		t.Errorf("got %d plain bytes, want a long line coloured up to the limit", got.Plain)
	}
}

func TestPanic(t *testing.T) {
	t.Parallel()
	tokens := []chroma.Token{{Type: chroma.Keyword, Value: "a"}}
	h := newTestHighlighter().with(func() chroma.Token {
		next := tokens[0] // which panics
		tokens = tokens[1:]
		return next
	})
	if got := coloursOf(h, "Go", "ab"); got != "k{a}b" {
		t.Errorf("got %s, want colours up to the panic", got)
	}
}

func TestAtOnce(t *testing.T) {
	t.Parallel()
	h := newTestHighlighter()
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			code, want := fmt.Sprintf("x := %d\n", i%5), fmt.Sprintf("x := m{%d}\n", i%5)
			if got := coloursOf(h, "Go", code); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	all.Wait()
	if n := h.cache.Len(); n != 5 || len(h.jobs) != 0 {
		t.Errorf("got %d entries and %d jobs, want 5 and none", n, len(h.jobs))
	}
}

func TestWeight(t *testing.T) {
	t.Parallel()
	colours := Colours{Spans: make([]Span, 10, 100)}
	if got := weight("key", colours); got < 8*100 || got > 8*100+400 {
		t.Errorf("got %d bytes, want about those of 100 spans", got)
	}
}
