package dataloader

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/gluepot/gluepot/domain/fault"
)

// maxBatch is the most keys that one statement looks up.
const maxBatch = 64

// loader is a batching dataloader without a cache. A caller that finds a slot free looks its key up at once, by itself. Callers that come
// while all slots are taken wait, and the next slot that becomes free looks up all their keys in one statement.
//
// While anyone waits, every slot is taken: a slot is given up only by a statement that ends when no caller waits. So one that waits
// alone is woken as surely as a crowd.
type loader[K, V any] struct {
	load    func(context.Context, []K) ([]result[V], error) // returns a result for each key, in their order
	slots   int                                             // statements at once
	largest int                                             // keys in a statement
	fail    func(error) error                               // translates the error of a context that has ended

	mu      sync.Mutex
	taken   int // slots
	waiting []*waiter[K, V]
}

// result is the value for a key, or an error.
type result[V any] struct {
	value V
	err   error
}

// waiter is a caller that waits for a statement.
type waiter[K, V any] struct {
	ctx  context.Context //nolint:containedctx // it travels with the request that it belongs to
	key  K
	done chan result[V] // has room for the one result

	gone  bool         // guarded by loader.mu, as is the next
	batch *batch[K, V] // nil: not begun
}

// batch is a statement for several callers. It ends with the last of them.
type batch[K, V any] struct {
	ctx     context.Context //nolint:containedctx // it is that of the statement
	cancel  context.CancelFunc
	waiters []*waiter[K, V]
	left    int // how many of them still wait, guarded by loader.mu
}

// find looks a key up.
func (l *loader[K, V]) find(ctx context.Context, key K) (none V, _ error) {
	l.mu.Lock()
	if l.taken < l.slots {
		l.taken++
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
	case found := <-w.done:
		return found.value, found.err
	case <-ctx.Done():
		l.leave(w)
		return none, l.fail(ctx.Err())
	}
}

// leave ends the statement of a caller that has gone, if no other waits for it.
func (l *loader[K, V]) leave(w *waiter[K, V]) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w.gone = true
	if w.batch == nil {
		return
	}
	if w.batch.left--; w.batch.left == 0 {
		w.batch.cancel()
	}
}

// release hands the slot of a caller to the waiters. They are served in the background, so that the caller can return.
func (l *loader[K, V]) release() {
	if next := l.next(); next != nil {
		go func() {
			for ; next != nil; next = l.next() {
				l.serve(next)
			}
		}()
	}
}

// next returns the waiters that a free slot serves. It gives the slot up and returns nil when there are none.
func (l *loader[K, V]) next() *batch[K, V] {
	l.mu.Lock()
	defer l.mu.Unlock()
	next, passed := &batch[K, V]{}, 0
	for ; passed < len(l.waiting) && len(next.waiters) < l.largest; passed++ {
		if w := l.waiting[passed]; !w.gone {
			w.batch = next
			next.waiters = append(next.waiters, w)
		}
	}
	l.waiting = slices.Delete(l.waiting, 0, passed)
	if len(next.waiters) == 0 {
		l.taken--
		return nil
	}
	// The statement shows up in the trace of one of them.
	next.ctx, next.cancel = context.WithCancel(context.WithoutCancel(next.waiters[0].ctx)) //nolint:gosec // its last waiter calls it
	next.left = len(next.waiters)
	return next
}

// serve runs one statement and hands each caller its result.
func (l *loader[K, V]) serve(b *batch[K, V]) {
	defer b.cancel()
	keys := make([]K, len(b.waiters))
	for i, w := range b.waiters {
		keys[i] = w.key
	}
	results, err := l.contained(b.ctx, keys)
	for i, w := range b.waiters {
		if err != nil {
			w.done <- result[V]{err: err}
		} else {
			w.done <- results[i]
		}
	}
}

// contained is load, but turns a panic into an error: nothing else would recover it in the background.
func (l *loader[K, V]) contained(ctx context.Context, keys []K) (_ []result[V], err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fault.Unforeseen(fmt.Errorf("panic: %v\n%s", cause, debug.Stack()))
		}
	}()
	return l.load(ctx, keys)
}
