// Package highlight finds the keywords, strings and comments of code with chroma's lexers.
//
// Anyone can write the code, and the lexers are backtracking regular expressions: so size, time and concurrency are bounded, and results
// cached. Code beyond the bounds is shown as plain text.
package highlight

import (
	"context"
	"hash/maphash"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/chroma/v2"
	"golang.org/x/sync/singleflight"

	"github.com/gluepot/gluepot/application/languages"
)

// maxCode is the longest code that is highlighted, in bytes.
const maxCode = 128 << 10

// maxCached is the size of the cache in bytes.
const maxCached = 32 << 20

// Span is a part of the code with one class.
type Span struct {
	Length uint32 // in bytes
	Class  byte   // in the style sheet, one letter; 0: none
}

// Highlighter highlights code. It is safe for concurrent use.
type Highlighter struct {
	lexer   func(language string) chroma.Lexer // nil: it has none
	budget  time.Duration
	slots   chan struct{} // a semaphore
	flights singleflight.Group
	cache   *cache
	seed    maphash.Seed
}

// New returns a highlighter with a time budget for each text.
func New(known *languages.UseCases, budget time.Duration) *Highlighter {
	return &Highlighter{
		budget: budget, slots: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)),
		lexer: func(language string) chroma.Lexer { return lexerOf(language, known) },
		cache: newCache(maxCached), seed: maphash.MakeSeed(),
	}
}

// Spans returns spans that cover the code, or nil to show it as plain text. Scopes share nothing in the cache: timing must not reveal the
// code of other pastes.
func (h *Highlighter) Spans(ctx context.Context, scope, language, code string) []Span {
	if len(code) > maxCode {
		return nil
	}
	key := scope + "\x00" + language + "\x00" + strconv.FormatUint(maphash.String(h.seed, code), 16)
	if spans, ok := h.cache.get(key, time.Now()); ok || ctx.Err() != nil {
		return spans
	}
	ctx, cancel := context.WithTimeout(ctx, h.budget)
	defer cancel()
	// A match of a regular expression cannot be interrupted (chroma ends it after 250 ms), so the page does not wait for it.
	flight := h.flights.DoChan(key, func() (any, error) {
		select {
		case h.slots <- struct{}{}:
			defer func() { <-h.slots }()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		spans := h.tokenise(language, code)
		h.cache.put(key, spans, time.Now())
		return spans, nil
	})
	select {
	case made := <-flight:
		spans, _ := made.Val.([]Span)
		return spans
	case <-ctx.Done():
		return nil
	}
}

// tokenise returns the spans of the code. They are nil if its language has no lexer, or the lexer panics or changes the code. The budget
// stops lexers that yield tokens endlessly.
func (h *Highlighter) tokenise(language, code string) (spans []Span) {
	defer func() {
		if recover() != nil {
			spans = nil
		}
	}()
	lexer := h.lexer(language)
	if lexer == nil {
		return nil
	}
	next, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, code) // compiles the lexer, once
	if err != nil {
		return nil
	}
	rest, end := code, time.Now().Add(h.budget)
	for token := next(); token != chroma.EOF; token = next() {
		if time.Now().After(end) {
			return nil
		}
		if token.Value == rest+"\n" { // some lexers add a line end
			token.Value = rest
		}
		var ok bool
		if rest, ok = strings.CutPrefix(rest, token.Value); !ok {
			return nil
		}
		length, class := uint32(len(token.Value)), classOf(token.Type)
		if n := len(spans); n > 0 && spans[n-1].Class == class {
			spans[n-1].Length += length
		} else if length > 0 {
			spans = append(spans, Span{length, class})
		}
	}
	if rest != "" {
		return nil
	}
	return spans
}

// classes maps types of tokens to classes. Other types have the class of their subcategory or category.
var classes = map[chroma.TokenType]byte{
	chroma.Keyword: 'k', chroma.KeywordConstant: 'm', chroma.KeywordType: 't', chroma.OperatorWord: 'k',
	chroma.NameFunction: 'f', chroma.NameFunctionMagic: 'f', chroma.NameClass: 't', chroma.NameException: 't', chroma.NameBuiltin: 'b',
	chroma.NameBuiltinPseudo: 'b', chroma.NameTag: 'k', chroma.NameAttribute: 'a', chroma.NameProperty: 'a', chroma.NameDecorator: 'p',
	chroma.NameVariable: 'v', chroma.NameVariableClass: 'v', chroma.NameVariableGlobal: 'v', chroma.NameVariableInstance: 'v',
	chroma.NameVariableMagic: 'v', chroma.NameVariableAnonymous: 'v', chroma.NameConstant: 'm', chroma.NameEntity: 'm', chroma.NameLabel: 'p',
	chroma.Literal: 'm', chroma.LiteralString: 's', chroma.LiteralStringEscape: 'e', chroma.LiteralStringInterpol: 'e',
	chroma.LiteralStringRegex: 'e', chroma.LiteralStringSymbol: 'm', chroma.LiteralNumber: 'm',
	chroma.Comment: 'c', chroma.CommentPreproc: 'p', chroma.CommentHashbang: 'p',
	chroma.GenericDeleted: 'd', chroma.GenericInserted: 'n', chroma.GenericHeading: 'h', chroma.GenericSubheading: 'h',
	chroma.GenericEmph: 'i', chroma.GenericStrong: 'h', chroma.GenericPrompt: 'p',
}

func classOf(t chroma.TokenType) byte {
	for _, of := range [...]chroma.TokenType{t, t.SubCategory(), t.Category()} {
		if class, ok := classes[of]; ok {
			return class
		}
	}
	return 0
}
