// Package highlight finds the keywords, strings and comments of code with chroma's lexers.
//
// Anyone can write the code, and the lexers are backtracking regular expressions. So length, work and concurrency are
// limited, and results are cached. Code beyond the limits is plain text.
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
	"unsafe"

	"github.com/alecthomas/chroma/v2"

	"github.com/gluepot/gluepot/adapters/internal/cache"
	"github.com/gluepot/gluepot/application/languages"
)

const (
	// maxCode is how many bytes of one code are highlighted.
	maxCode = 256 << 10
	// maxCached is the size limit of the cache in bytes.
	maxCached = 32 << 20
)

// Work is processor time, so that colours do not depend on what else the machine does. On a processor of 2020, most
// lexers of chroma take 2 µs for a byte of ordinary text, and the slowest takes 8 µs.
const (
	workPerByte = 12 * time.Microsecond
	minMaxWork  = 100 * time.Millisecond // the limit for short code
	maxPageWork = 2 * time.Second        // then a page highlights no more code
	// maxPreviewWork is the limit for all code of a preview: a writer asks for many previews.
	maxPreviewWork = 250 * time.Millisecond
)

// Span is a part of the code with one class.
type Span struct {
	Length uint32 // in bytes
	Class  byte   // in the style sheet, one letter; 0: none
}

// Colours are the colours of one code.
type Colours struct {
	Spans []Span // cover the code; nil: it is plain text
	Plain int    // how many bytes at the end are plain text, because of a limit
	Late  bool   // the colours were not ready in time; a later page may have them
}

// Page counts the work that one page has spent on colours.
type Page struct {
	Preview bool // it gets less work, and the cache keeps nothing of it

	work time.Duration
}

// limit returns the work that the page may spend on a code of that many bytes; 0: none.
func (p *Page) limit(length int) time.Duration {
	limit := max(minMaxWork, time.Duration(min(length, maxCode))*workPerByte)
	switch {
	case p.Preview:
		return max(min(limit, maxPreviewWork-p.work), 0)
	case p.work >= maxPageWork:
		return 0
	}
	return limit
}

// Highlighter highlights code. It is safe for concurrent use.
type Highlighter struct {
	lexer func(language string) chroma.Lexer // returns nil for a language without a lexer
	cache *cache.Cache[Colours]
	seed  maphash.Seed

	mu     sync.Mutex
	jobs   map[string]*job // waiting and running, by key
	active chan struct{}   // semaphore of the jobs that hold memory
	slots  chan struct{}   // semaphore of the jobs that run; active jobs take turns
}

// New returns a highlighter that uses half of the processors.
func New(catalogue *languages.UseCases) *Highlighter {
	return &Highlighter{
		lexer: func(language string) chroma.Lexer { return lexerOf(language, catalogue) },
		cache: cache.New(maxCached, weight), seed: maphash.MakeSeed(), jobs: map[string]*job{},
		active: make(chan struct{}, maxActive), slots: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)),
	}
}

// weight returns about how many bytes the colours of a key take in the cache.
func weight(key string, colours Colours) int64 {
	return int64(300 + len(key) + cap(colours.Spans)*int(unsafe.Sizeof(Span{})))
}

// Colours returns the colours of a code. It waits for them until the context ends. Scopes share nothing in the cache,
// so that timing does not reveal the code of other pastes.
func (h *Highlighter) Colours(ctx context.Context, page *Page, scope, language, code string) Colours {
	lexer := h.lexer(language)
	if lexer == nil || code == "" {
		return Colours{}
	}
	key := h.key(scope, language, code)
	if colours, ok := h.cache.Get(key); ok {
		return colours
	}
	limit := page.limit(len(code))
	if page.Preview && limit == 0 {
		return Colours{Plain: len(code)} // another preview would not have more
	}
	if limit == 0 || ctx.Err() != nil {
		return Colours{Late: true}
	}
	j := h.join(&job{key: key, lexer: lexer, code: code, limit: limit, preview: page.Preview})
	if j == nil {
		return Colours{Late: true}
	}
	defer h.leave(j)
	select {
	case <-j.done:
		page.work += j.work
		return j.colours
	case <-ctx.Done(): // an active job goes on: a regular expression cannot be interrupted
		return Colours{Late: true}
	}
}

func (h *Highlighter) key(scope, language, code string) string {
	return scope + "\x00" + language + "\x00" + strconv.FormatUint(maphash.String(h.seed, code), 16)
}

// tokenise returns the colours of a code as far as the work reaches that limit, and the work that they took. It often
// calls yield, and gives up if that returns false.
func tokenise(
	lexer chroma.Lexer, code string, limit time.Duration, yield func() bool,
) (colours Colours, work time.Duration, ok bool) {
	runtime.LockOSThread() // for threadTime
	defer runtime.UnlockOSThread()
	text := code[:min(len(code), maxCode)]
	if end := strings.LastIndexByte(text, '\n'); len(code) > maxCode && end >= 0 {
		text = text[:end+1]
	}
	ok = true
	rest, began := text, threadTime()
	var spans []Span
	defer func() {
		_ = recover() // a lexer may panic; the colours so far are valid
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
	turnBegan, checked := began, time.Now()
	for token := next(); token != chroma.EOF; token = next() {
		if time.Since(checked) > time.Millisecond { // threadTime is a system call
			checked = time.Now()
			now := threadTime()
			if now-began > limit {
				return
			}
			if now-turnBegan > slice {
				if turnBegan = now; !yield() {
					return colours, work, false
				}
			}
		}
		if value, cut := strings.CutSuffix(token.Value, "\n"); cut && value == rest { // some lexers append a newline
			token.Value = rest
		}
		after, same := strings.CutPrefix(rest, token.Value)
		if !same { // some lexers change the text, such as bytes that are not UTF-8
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

// classes maps types of tokens to classes. Other types get the class of their subcategory or category.
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
	for _, tokenType := range [...]chroma.TokenType{t, t.SubCategory(), t.Category()} {
		if class, ok := classes[tokenType]; ok {
			return class
		}
	}
	return 0
}
