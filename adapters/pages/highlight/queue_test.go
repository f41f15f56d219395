package highlight

import (
	"context"
	"strings"
	"testing"

	"github.com/alecthomas/chroma/v2"
)

// longLexer is a lexer that works until the test ends it.
type longLexer struct {
	started chan struct{} // closed by the first token
	end     chan struct{} // closed to end it
	running bool
}

func newLongLexer() *longLexer {
	return &longLexer{started: make(chan struct{}), end: make(chan struct{})}
}

func (l *longLexer) next() chroma.Token {
	if !l.running {
		l.running = true
		close(l.started)
	}
	select {
	case <-l.end:
		return chroma.EOF
	default:
		return workFor(slice / 4)
	}
}

// longCode is code whose lexer works for seconds.
var longCode = strings.Repeat("x", maxCode)

// newQueue returns a highlighter that runs one job at a time, and has these languages beside those of the catalogue.
func newQueue(languages map[string]*longLexer) *Highlighter {
	h := newTestHighlighter()
	h.slots = make(chan struct{}, 1)
	others := h.lexer
	h.lexer = func(language string) chroma.Lexer {
		if l := languages[language]; l != nil {
			return lexerFunc{next: l.next}
		}
		return others(language)
	}
	return h
}

// TestTakesTurns checks that a short code behind a long one gets its colours before the long one ends.
func TestTakesTurns(t *testing.T) {
	t.Parallel()
	l := newLongLexer()
	h := newQueue(map[string]*longLexer{"long": l})
	results := make(chan Colours, 1)
	go func() { results <- h.Colours(context.Background(), new(Page), "", "long", longCode) }()
	<-l.started
	if got := coloursOf(h, "Go", "package main"); got != "k{package} main" {
		t.Errorf("got %s, want colours", got)
	}
	select {
	case <-results:
		t.Error("got the long code's colours first, want them to take turns")
	default:
	}
	close(l.end)
	if got := <-results; got.Late {
		t.Errorf("got %v, want colours", got)
	}
}

// TestLeaves checks that a job whose request has left goes on for the cache, unless another request waits.
func TestLeaves(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"goes on", "gives way"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := newLongLexer(), newLongLexer()
			h := newQueue(map[string]*longLexer{"first": first, "second": second})
			ctx, cancel := context.WithCancel(t.Context())
			results := make(chan Colours, 1)
			go func() { results <- h.Colours(ctx, new(Page), "", "first", longCode) }()
			<-first.started
			key := h.key("", "first", longCode)
			h.mu.Lock()
			j := h.jobs[key]
			h.mu.Unlock()
			cancel()
			if got := <-results; !got.Late {
				t.Errorf("got %v, want Late", got)
			}
			if name == "gives way" {
				go func() { results <- h.Colours(context.Background(), new(Page), "", "second", longCode) }()
				<-j.done
				close(second.end)
				<-results
			} else {
				close(first.end)
				<-j.done
			}
			if _, ok := h.cache.Get(key); ok != (name == "goes on") {
				t.Errorf("got %t, want it in the cache if it went on", ok)
			}
		})
	}
}

// TestLeavesTheQueue checks that a job never begins if its request leaves before.
func TestLeavesTheQueue(t *testing.T) {
	t.Parallel()
	l := newLongLexer()
	h := newQueue(map[string]*longLexer{"long": l})
	h.slots <- struct{}{}
	for range maxActive {
		h.active <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	j := h.join(&job{key: "long", lexer: h.lexer("long"), code: longCode})
	cancel()
	if got := h.Colours(ctx, new(Page), "", "long", longCode); !got.Late {
		t.Errorf("got %v for a request that has ended, want Late", got)
	}
	h.leave(j)
	<-j.done
	if len(h.jobs) != 0 || l.running {
		t.Errorf("got %d jobs, want none", len(h.jobs))
	}
}

// TestQueueIsFull fills the queue. Another code then has no colours, and that is not cached.
func TestQueueIsFull(t *testing.T) {
	t.Parallel()
	h := newTestHighlighter()
	for i := range maxJobs {
		h.jobs[strings.Repeat("x", i)] = new(job)
	}
	if got := h.Colours(t.Context(), new(Page), "", "Go", "package main"); !got.Late {
		t.Errorf("got %v, want Late", got)
	}
	clear(h.jobs)
	if got := coloursOf(h, "Go", "package main"); got != "k{package} main" {
		t.Errorf("got %s, want colours", got)
	}
}
