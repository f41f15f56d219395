package pages

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/chroma/v2"
)

// maxHighlighted is the longest code that is highlighted, in bytes.
const maxHighlighted = 128 << 10

// maxHighlightedMarks bounds the marks of one code that is highlighted.
const maxHighlightedMarks = 1000

// highlighter highlights code, keeps the results, and is at most at as many at once as there are processors.
type highlighter struct {
	lexers *lexers
	budget time.Duration // for one code, and for who waits for it
	places chan struct{} // one for each that is under way

	mu     sync.Mutex
	kept   *kept
	flying map[codeKey]chan struct{} // what is under way; closed when it is over
}

// codeKey is what a result depends on.
type codeKey struct {
	paste, pasty string
	before       string // of its anchors
	language     string
	code         uint64 // a hash
}

func newHighlighter(known *lexers, keptBytes int, budget time.Duration) *highlighter {
	return &highlighter{
		lexers: known, budget: budget, places: make(chan struct{}, runtime.GOMAXPROCS(0)), kept: newKept(keptBytes),
		flying: make(map[codeKey]chan struct{}),
	}
}

// highlight returns the lines of a code as HTML, or nil for one that is shown as plain text: it has no lexer, is too long, or
// takes too much time, that of waiting for a place included.
func (h *highlighter) highlight(ctx context.Context, key codeKey, code string) []byte {
	if len(code) > maxHighlighted {
		return nil
	}
	h.mu.Lock()
	html, known := h.kept.get(key, time.Now())
	over := h.flying[key]
	h.mu.Unlock()
	if known || ctx.Err() != nil {
		return html
	}
	ctx, cancel := context.WithTimeout(ctx, h.budget)
	defer cancel()
	if over == nil {
		select {
		case h.places <- struct{}{}:
			over = h.begin(key, code)
		case <-ctx.Done():
			return nil
		}
	}
	select {
	case <-over:
	case <-ctx.Done():
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	html, _ = h.kept.get(key, time.Now())
	return html
}

// begin highlights a code in the background, on the place that the caller has taken, unless somebody else has begun meanwhile. One
// match of a regular expression cannot be interrupted: whoever waits gives up before it does.
func (h *highlighter) begin(key codeKey, code string) (over chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if over = h.flying[key]; over != nil {
		<-h.places
		return over
	}
	over = make(chan struct{})
	h.flying[key] = over
	go func() {
		html, err := h.make(key, code)
		if err != nil {
			html = nil
		}
		h.mu.Lock()
		delete(h.flying, key)
		h.kept.put(key, html, time.Now())
		h.mu.Unlock()
		<-h.places
		close(over)
	}()
	return over
}

var (
	errSlow   = errors.New("highlighting takes too long")
	errTokens = errors.New("the tokens are not those of the code")
)

// make highlights a code. Lexers are many, and code can be made to break them: a panic of one is an error.
func (h *highlighter) make(key codeKey, code string) (html []byte, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("a lexer panicked: %v", cause)
		}
	}()
	lexer := h.lexers.of(key.language)
	if lexer == nil {
		return nil, nil
	}
	next, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, code)
	if err != nil {
		return nil, err
	}
	w := codeWriter{marker: marker{left: maxHighlightedMarks}, before: key.before, b: make([]byte, 0, 4*len(code))}
	began, rest, class, pending := time.Now(), code, "", 0 // pending bytes of rest have that class
	for {
		token := next()
		if token == chroma.EOF {
			break
		}
		if time.Since(began) > h.budget { // of each token: one can take longer than all may
			return nil, errSlow
		}
		size := len(token.Value)
		if !strings.HasPrefix(rest[pending:], token.Value) {
			if token.Value != rest[pending:]+"\n" { // which some lexers add
				return nil, errTokens
			}
			size--
		}
		if of := classOf(token.Type); of != class {
			_ = w.token(class, rest[:pending])
			rest, class, pending = rest[pending:], of, 0
		}
		pending += size
	}
	if pending != len(rest) {
		return nil, errTokens
	}
	_ = w.token(class, rest)
	_ = w.end()
	return bytes.Clone(w.b), nil // what is kept has no room to grow
}

// classes are those of the style sheet, by types of tokens; a type that is not here has that of its subcategory or category.
var classes = map[chroma.TokenType]string{
	chroma.Keyword: "k", chroma.KeywordConstant: "m", chroma.KeywordType: "t", chroma.OperatorWord: "k",
	chroma.NameFunction: "f", chroma.NameFunctionMagic: "f", chroma.NameClass: "t", chroma.NameException: "t", chroma.NameBuiltin: "b",
	chroma.NameBuiltinPseudo: "b", chroma.NameTag: "k", chroma.NameAttribute: "a", chroma.NameProperty: "a", chroma.NameDecorator: "p",
	chroma.NameVariable: "v", chroma.NameVariableClass: "v", chroma.NameVariableGlobal: "v", chroma.NameVariableInstance: "v",
	chroma.NameVariableMagic: "v", chroma.NameVariableAnonymous: "v", chroma.NameConstant: "m", chroma.NameEntity: "m", chroma.NameLabel: "p",
	chroma.Literal: "m", chroma.LiteralString: "s", chroma.LiteralStringEscape: "e", chroma.LiteralStringInterpol: "e",
	chroma.LiteralStringRegex: "e", chroma.LiteralStringSymbol: "m", chroma.LiteralNumber: "m",
	chroma.Comment: "c", chroma.CommentPreproc: "p", chroma.CommentHashbang: "p",
	chroma.GenericDeleted: "gd", chroma.GenericInserted: "gi", chroma.GenericHeading: "h", chroma.GenericSubheading: "h",
	chroma.GenericEmph: "i", chroma.GenericStrong: "h", chroma.GenericPrompt: "p",
}

func classOf(t chroma.TokenType) string {
	for _, of := range [...]chroma.TokenType{t, t.SubCategory(), t.Category()} {
		if class, ok := classes[of]; ok {
			return class
		}
	}
	return ""
}
