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

// loader is a dataloader without a cache. A caller that finds a free slot looks its key up at once. While all slots are taken, callers
// wait, and the next free slot looks up all their keys in one statement.
//
// A slot becomes free only when no caller waits, so even a single waiter is always served.
type loader[K, V any] struct {
	load    func(context.Context, []K) ([]result[V], error) // returns a result for each key, in their order
	slots   int                                             // statements at once
	largest int                                             // keys in a statement
	fail    func(error) error                               // translates a context's error

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
	ctx  context.Context //nolint:containedctx // that of its request
	key  K
	done chan result[V] // buffered

	gone  bool         // guarded by loader.mu, as is the next
	batch *batch[K, V] // nil: still in the queue
}

// batch is a statement for several callers. It is cancelled when the last of them has gone.
type batch[K, V any] struct {
	ctx     context.Context //nolint:containedctx // that of the statement
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

// leave marks a caller as gone, and cancels its statement if no other waits for it.
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

// release hands a caller's slot to the waiters. They are served in the background, so that the caller can return.
func (l *loader[K, V]) release() {
	if next := l.next(); next != nil {
		go func() {
			for ; next != nil; next = l.next() {
				l.serve(next)
			}
		}()
	}
}

// next takes the next batch from the queue. When nobody waits, it frees the slot and returns nil.
func (l *loader[K, V]) next() *batch[K, V] {
	l.mu.Lock()
	defer l.mu.Unlock()
	next, taken := &batch[K, V]{}, 0
	for ; taken < len(l.waiting) && len(next.waiters) < l.largest; taken++ {
		if w := l.waiting[taken]; !w.gone {
			w.batch = next
			next.waiters = append(next.waiters, w)
		}
	}
	l.waiting = slices.Delete(l.waiting, 0, taken)
	if len(next.waiters) == 0 {
		l.taken--
		return nil
	}
	// The statement belongs to the trace of the first caller.
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

// contained is load with panics as errors: nothing else recovers them in the background.
func (l *loader[K, V]) contained(ctx context.Context, keys []K) (_ []result[V], err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fault.Unforeseen(fmt.Errorf("panic: %v\n%s", cause, debug.Stack()))
		}
	}()
	return l.load(ctx, keys)
}
