package pastes_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/visit"
)

// python returns that many lines of ordinary code, different in each call.
func python(count int) string {
	var b strings.Builder
	for i := range count / 10 {
		fmt.Fprintf(&b, `class Item%d(object):
    """Holds the %dth value of %d."""
    limit = %d * 0x1F + 2.5e3

    def value_%d(self, first, second=None, *rest, **named):
        # the usual case comes first
        if first is None or second in (1, 2, '%d'):
            return [str(x) for x in rest if x != %d]
        raise ValueError('not a value: %%r' %% (first,))

`, i, i, rand.Int(), i, i, i, i)
	}
	return b.String()
}

// wantColours checks that the last line of python has colours on a page.
func wantColours(t *testing.T, page string) {
	t.Helper()
	visit.WantIn(t, page[strings.LastIndex(page, "raise"):], `<span class="s">&#39;not a value: </span>`)
	if strings.Contains(page, `<p class="note">`) {
		t.Error("got a note, want all of it coloured")
	}
}

// TestColoursOnABusyMachine opens different files at once, beside loops that use all processors.
func TestColoursOnABusyMachine(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	var loops, visitors sync.WaitGroup
	var end atomic.Bool
	for range 2 * runtime.GOMAXPROCS(0) {
		loops.Go(func() {
			for !end.Load() {
			}
		})
	}
	for i := range 8 {
		id := fmt.Sprintf("python%02d", i)
		s.Holds(id, visit.Content(paste.Pasty{Language: "Python", Code: python(500)}))
		visitors.Go(func() { wantColours(t, s.Page("/"+id)) })
	}
	visitors.Wait()
	end.Store(true)
	loops.Wait()
}

// TestColoursOfALongPaste opens the longest code that has colours, and longer code. Its rest is plain, and a note says
// where that begins.
func TestColoursOfALongPaste(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	code := python(6900)
	if length := len(code); length < 245<<10 || length > 256<<10 {
		t.Fatalf("got %d bytes, want nearly 256 KiB", length)
	}
	s.Holds("longcode", visit.Content(paste.Pasty{Language: "Python", Code: code}))
	wantColours(t, s.Page("/longcode"))
	s.Holds("toolong0", visit.Content(paste.Pasty{Language: "Python", Code: strings.Repeat("pass # a comment\n", 18<<10)}))
	page := s.Page("/toolong0")
	visit.WantIn(t, page, `<p class="note">Highlighting ends in line 15420: the rest takes too long.</p>`,
		`>15420</a><span class="k">pass</span> <span class="c">`, `>15421</a>pass # a comment`)
}
