// Package highlight finds the keywords, strings and comments of code with chroma's lexers.
//
// Anyone can write the code, and the lexers are backtracking regular expressions: so length, work and concurrency are
// bounded, and results cached. What is beyond the bounds is plain text.
package highlight

import (
	"context"
	"hash/maphash"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/alecthomas/chroma/v2"

	"github.com/gluepot/gluepot/application/languages"
)

const (
	// maxCode is how much of a code has colours, in bytes.
	maxCode = 256 << 10
	// maxCached is the size of the cache in bytes.
	maxCached = 32 << 20
)

// Work is processor time, so that colours do not depend on what else the machine does. chroma's slowest lexer takes 8
// µs for a byte of ordinary text on a processor of 2020, most take 2.
const (
	workPerByte = 12 * time.Microsecond
	leastWork   = 100 * time.Millisecond // for one code
	maxPageWork = 2 * time.Second        // a page begins no code beyond it
)

// Span is a part of the code with one class.
type Span struct {
	Length uint32 // in bytes
	Class  byte   // in the style sheet, one letter; 0: none
}

// Colours are those of one code.
type Colours struct {
	Spans []Span // cover the code; nil: it is plain text
	Plain int    // how many bytes at the end have no colours, because they are too many or take too much work
	Late  bool   // there are none yet; a later page may have them
}

// Page has what one page has spent on colours.
type Page struct{ work time.Duration }

// Highlighter highlights code. It is safe for concurrent use.
type Highlighter struct {
	lexer func(language string) chroma.Lexer // nil: it has none
	cache *cache
	seed  maphash.Seed

	mu    sync.Mutex
	jobs  map[string]*job // that wait or run, by key
	begun chan struct{}   // a semaphore of jobs that hold memory
	slots chan struct{}   // a semaphore of jobs that run; those that have begun take turns
}

// New returns a highlighter that uses half of the processors.
func New(known *languages.UseCases) *Highlighter {
	return &Highlighter{
		lexer: func(language string) chroma.Lexer { return lexerOf(language, known) },
		cache: newCache(maxCached), seed: maphash.MakeSeed(), jobs: map[string]*job{},
		begun: make(chan struct{}, maxBegun), slots: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)),
	}
}

// Colours returns the colours of a code. It waits for them until the context ends. Scopes share nothing in the cache:
// timing must not reveal the code of other pastes.
func (h *Highlighter) Colours(ctx context.Context, page *Page, scope, language, code string) Colours {
	lexer := h.lexer(language)
	if lexer == nil || code == "" {
		return Colours{}
	}
	key := h.key(scope, language, code)
	if colours, ok := h.cache.get(key); ok {
		return colours
	}
	if page.work >= maxPageWork || ctx.Err() != nil {
		return Colours{Late: true}
	}
	j := h.join(key, lexer, code)
	if j == nil {
		return Colours{Late: true}
	}
	defer h.leave(j)
	select {
	case <-j.done:
		page.work += j.work
		return j.colours
	case <-ctx.Done(): // the job goes on if it has begun: a regular expression cannot be interrupted
		return Colours{Late: true}
	}
}

func (h *Highlighter) key(scope, language, code string) string {
	return scope + "\x00" + language + "\x00" + strconv.FormatUint(maphash.String(h.seed, code), 16)
}

// tokenise returns the colours of a code, and the work that they took. It gives up when turn, which it calls often,
// returns false.
func tokenise(lexer chroma.Lexer, code string, turn func() bool) (colours Colours, work time.Duration, ok bool) {
	runtime.LockOSThread() // whose time is measured
	defer runtime.UnlockOSThread()
	text := code[:min(len(code), maxCode)]
	if end := strings.LastIndexByte(text, '\n'); len(code) > maxCode && end >= 0 {
		text = text[:end+1]
	}
	ok = true
	rest, began := text, threadTime()
	var spans []Span
	defer func() {
		_ = recover() // a lexer may panic: the colours up to there are good
		work = threadTime() - began
		if colours.Plain = len(rest) + len(code) - len(text); spans != nil && colours.Plain > 0 {
			spans = append(spans, Span{Length: uint32(colours.Plain)})
		}
		colours.Spans = slices.Clip(spans)
	}()
	next, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, text) // compiles the lexer, once
	if err != nil {
		return
	}
	began = threadTime()
	most, turned, asked := max(leastWork, time.Duration(len(text))*workPerByte), began, time.Now()
	for token := next(); token != chroma.EOF; token = next() {
		if time.Since(asked) > time.Millisecond { // asking for the thread's time takes a system call
			asked = time.Now()
			now := threadTime()
			if now-began > most {
				return
			}
			if now-turned > slice {
				if turned = now; !turn() {
					return colours, work, false
				}
			}
		}
		if value, added := strings.CutSuffix(token.Value, "\n"); added && value == rest { // some lexers add a line end
			token.Value = rest
		}
		after, same := strings.CutPrefix(rest, token.Value)
		if !same { // some change what they read, such as bytes that are not UTF-8
			return
		}
		rest = after
		length, class := uint32(len(token.Value)), classOf(token.Type)
		if n := len(spans); n > 0 && spans[n-1].Class == class {
			spans[n-1].Length += length
		} else if length > 0 {
			spans = append(spans, Span{length, class})
		}
	}
	return
}

// classes maps types of tokens to classes. Other types have the class of their subcategory or category.
var classes = map[chroma.TokenType]byte{
	chroma.Keyword: 'k', chroma.KeywordConstant: 'm', chroma.KeywordType: 't', chroma.OperatorWord: 'k',
	chroma.NameFunction: 'f', chroma.NameFunctionMagic: 'f', chroma.NameClass: 't', chroma.NameException: 't',
	chroma.NameBuiltin:       'b',
	chroma.NameBuiltinPseudo: 'b', chroma.NameTag: 'k', chroma.NameAttribute: 'a', chroma.NameProperty: 'a',
	chroma.NameDecorator: 'p',
	chroma.NameVariable:  'v', chroma.NameVariableClass: 'v', chroma.NameVariableGlobal: 'v',
	chroma.NameVariableInstance: 'v',
	chroma.NameVariableMagic:    'v', chroma.NameVariableAnonymous: 'v', chroma.NameConstant: 'm', chroma.NameEntity: 'm',
	chroma.NameLabel: 'p',
	chroma.Literal:   'm', chroma.LiteralString: 's', chroma.LiteralStringEscape: 'e', chroma.LiteralStringInterpol: 'e',
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
