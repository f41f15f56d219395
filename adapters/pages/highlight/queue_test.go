package highlight

import (
	"context"
	"strings"
	"testing"

	"github.com/alecthomas/chroma/v2"
)

// long is a language whose lexer works until its end is allowed.
type long struct {
	asked chan struct{} // closed by the first token
	end   chan struct{} // closed to end it
	began bool
}

func newLong() *long { return &long{asked: make(chan struct{}), end: make(chan struct{})} }

func (l *long) next() chroma.Token {
	if !l.began {
		l.began = true
		close(l.asked)
	}
	select {
	case <-l.end:
		return chroma.EOF
	default:
		return working(slice / 4)
	}
}

// longCode is code that has work for seconds.
var longCode = strings.Repeat("x", maxCode)

// newQueue returns a highlighter that runs one job at a time, and has these languages beside those of the catalogue.
func newQueue(languages map[string]*long) *Highlighter {
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

// TestTakesTurns has a short code behind a long one, which has not ended when the short one has colours.
func TestTakesTurns(t *testing.T) {
	t.Parallel()
	l := newLong()
	h := newQueue(map[string]*long{"long": l})
	ended := make(chan Colours, 1)
	go func() { ended <- h.Colours(context.Background(), new(Page), "", "long", longCode) }()
	<-l.asked
	if got := coloured(h, "Go", "package main"); got != "k{package} main" {
		t.Errorf("got %s, want colours", got)
	}
	select {
	case <-ended:
		t.Error("got the long code's colours first, want them to take turns")
	default:
	}
	close(l.end)
	if got := <-ended; got.Late {
		t.Errorf("got %v, want colours", got)
	}
}

// TestLeaves has requests that wait no longer. A job that has begun goes on for the cache, unless another one is
// waited for.
func TestLeaves(t *testing.T) {
	t.Parallel()
	for _, gone := range []string{"goes on", "gives way"} {
		t.Run(gone, func(t *testing.T) {
			t.Parallel()
			first, second := newLong(), newLong()
			h := newQueue(map[string]*long{"first": first, "second": second})
			ctx, cancel := context.WithCancel(t.Context())
			left := make(chan Colours, 1)
			go func() { left <- h.Colours(ctx, new(Page), "", "first", longCode) }()
			<-first.asked
			key := h.key("", "first", longCode)
			h.mu.Lock()
			j := h.jobs[key]
			h.mu.Unlock()
			cancel()
			if got := <-left; !got.Late {
				t.Errorf("got %v, want that they are late", got)
			}
			if gone == "gives way" {
				go func() { left <- h.Colours(context.Background(), new(Page), "", "second", longCode) }()
				<-j.done
				close(second.end)
				<-left
			} else {
				close(first.end)
				<-j.done
			}
			if _, ok := h.cache.Get(key); ok != (gone == "goes on") {
				t.Errorf("got %t, want it in the cache if it went on", ok)
			}
		})
	}
}

// TestLeavesTheQueue has a request that waits no longer before its job has begun: the job never does.
func TestLeavesTheQueue(t *testing.T) {
	t.Parallel()
	l := newLong()
	h := newQueue(map[string]*long{"long": l})
	h.slots <- struct{}{}
	for range maxActive {
		h.active <- struct{}{}
	}
	ctx, cancel := context.WithCancel(t.Context())
	j := h.join(&job{key: "long", lexer: h.lexer("long"), code: longCode})
	cancel()
	if got := h.Colours(ctx, new(Page), "", "long", longCode); !got.Late {
		t.Errorf("got %v for a request that has ended, want that they are late", got)
	}
	h.leave(j)
	<-j.done
	if len(h.jobs) != 0 || l.began {
		t.Errorf("got %d jobs, want none", len(h.jobs))
	}
}

// TestQueueIsFull has as many jobs as there may be: another code has no colours, and that is not remembered.
func TestQueueIsFull(t *testing.T) {
	t.Parallel()
	h := newTestHighlighter()
	for i := range maxJobs {
		h.jobs[strings.Repeat("x", i)] = new(job)
	}
	if got := h.Colours(t.Context(), new(Page), "", "Go", "package main"); !got.Late {
		t.Errorf("got %v, want that they are late", got)
	}
	clear(h.jobs)
	if got := coloured(h, "Go", "package main"); got != "k{package} main" {
		t.Errorf("got %s, want colours", got)
	}
}
