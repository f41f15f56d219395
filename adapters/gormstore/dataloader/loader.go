package dataloader

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/gluepot/gluepot/adapters/gormstore/db"
	"github.com/gluepot/gluepot/domain/fault"
)

// maxBatch is the most keys that one statement looks up.
const maxBatch = 64

// loader is a dataloader without a cache. A caller that finds a free slot looks its key up at once. While all slots are
// taken, callers wait, and the next free slot looks up all their keys in one statement.
//
// A slot becomes free only when no caller waits, so even a single waiter is always served.
type loader[K, V any] struct {
	load    func(context.Context, []K) ([]result[V], error) // returns a result for each key, in their order
	slots   int                                             // statements at once
	largest int                                             // keys in a statement

	mu      sync.Mutex
	inUse   int // slots
	waiting []*waiter[K, V]
}

// result is the value for a key, or an error.
type result[V any] struct {
	value V
	err   error
}

// waiter is a caller that waits for a statement.
type waiter[K, V any] struct {
	ctx  context.Context //nolint:containedctx // the context of its request
	key  K
	done chan result[V] // buffered
}

// find looks a key up.
func (l *loader[K, V]) find(ctx context.Context, key K) (none V, _ error) {
	l.mu.Lock()
	if l.inUse < l.slots {
		l.inUse++
		l.mu.Unlock()
		defer l.release()
		results, err := l.load(ctx, []K{key})
		if err != nil {
			return none, err
		}
		return results[0].value, results[0].err
	}
	w := &waiter[K, V]{ctx: ctx, key: key, done: make(chan result[V], 1)}
	l.waiting = append(l.waiting, w)
	l.mu.Unlock()
	select {
	case result := <-w.done:
		return result.value, result.err
	case <-ctx.Done():
		return none, db.Translate(ctx.Err())
	}
}

// release hands a caller's slot to the waiters, and serves them in the background, so that the caller can return.
func (l *loader[K, V]) release() {
	if next := l.next(); len(next) > 0 {
		go func() {
			for ; len(next) > 0; next = l.next() {
				l.serve(next)
			}
		}()
	}
}

// next takes callers from the queue. If none waits, it frees the slot and returns none.
func (l *loader[K, V]) next() (callers []*waiter[K, V]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for ; n < len(l.waiting) && len(callers) < l.largest; n++ {
		if w := l.waiting[n]; w.ctx.Err() == nil { // it still waits
			callers = append(callers, w)
		}
	}
	l.waiting = slices.Delete(l.waiting, 0, n)
	if len(callers) == 0 {
		l.inUse--
	}
	return callers
}

// serve runs one statement and hands each caller its result.
func (l *loader[K, V]) serve(callers []*waiter[K, V]) {
	ctx, cancel := batchContext(callers)
	defer cancel()
	keys := make([]K, len(callers))
	for i, w := range callers {
		keys[i] = w.key
	}
	results, err := l.safeLoad(ctx, keys)
	for i, w := range callers {
		if err != nil {
			w.done <- result[V]{err: err}
		} else {
			w.done <- results[i]
		}
	}
}

// batchContext returns a context that ends with the last of the callers' deadlines. Its trace is the first caller's.
func batchContext[K, V any](callers []*waiter[K, V]) (context.Context, context.CancelFunc) {
	ctx, last := context.WithoutCancel(callers[0].ctx), time.Time{}
	for _, w := range callers {
		deadline, ok := w.ctx.Deadline()
		if !ok {
			return context.WithCancel(ctx)
		}
		if deadline.After(last) {
			last = deadline
		}
	}
	return context.WithDeadline(ctx, last)
}

// safeLoad calls load, and turns panics into errors, because nothing else recovers them in the background.
func (l *loader[K, V]) safeLoad(ctx context.Context, keys []K) (_ []result[V], err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fault.Unexpected(fmt.Errorf("panic: %v\n%s", cause, debug.Stack()))
		}
	}()
	return l.load(ctx, keys)
}
