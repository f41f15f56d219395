package gormstore

import (
	"context"
	"sync"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
)

const (
	// maxCoalesced is the most keys that one statement looks up.
	maxCoalesced = 64
	// coalesceWorkers is how many statements of one kind run at once. While fewer do, a lookup runs by
	// itself at once; beyond that it waits for the next statement, together with whoever else waits.
	// Two keep a database busy: one statement is carried out while the answers of the other are handed out.
	coalesceWorkers = 2
	// coalesceTimeout bounds a statement whose callers have all gone, or never had a deadline.
	coalesceTimeout = 30 * time.Second
)

// coalescer merges lookups of one kind that wait at the same moment into one statement. There is no
// timer and nothing is kept: an answer is as fresh as if each lookup had run by itself, and when the
// database is idle each does.
//
// Every caller keeps its own deadline, and one that goes away harms nobody else. When a statement for
// several keys fails for another reason than the database being away, each lookup runs by itself, so
// that a key which the database chokes on spoils its own answer only.
type coalescer[K, V any] struct {
	one  func(context.Context, K) (V, error)
	many func(context.Context, []K) ([]found[V], error) // an answer for each key, in their order; nil: never merge

	mu      sync.Mutex
	running int
	waiting []*lookup[K, V]
}

// found is the answer to one key of several.
type found[V any] struct {
	value V
	err   error
}

type lookup[K, V any] struct {
	ctx  context.Context //nolint:containedctx // it travels with the request it belongs to
	key  K
	done chan found[V] // has room for the one answer
}

// newCoalescer returns one that merges lookups with many, if merging is worth while.
func newCoalescer[K, V any](worthWhile bool, one func(context.Context, K) (V, error), many func(context.Context, []K) ([]found[V], error)) *coalescer[K, V] {
	if !worthWhile {
		many = nil
	}
	return &coalescer[K, V]{one: one, many: many}
}

// find looks one key up.
func (c *coalescer[K, V]) find(ctx context.Context, key K) (V, error) {
	if c.many == nil {
		return c.one(ctx, key)
	}
	c.mu.Lock()
	if c.running < coalesceWorkers {
		c.running++
		c.mu.Unlock()
		defer c.release()
		return c.one(ctx, key)
	}
	l := &lookup[K, V]{ctx: ctx, key: key, done: make(chan found[V], 1)}
	c.waiting = append(c.waiting, l)
	c.mu.Unlock()
	select {
	case answer := <-l.done:
		return answer.value, answer.err
	case <-ctx.Done():
		var none V
		return none, unavailable(ctx.Err())
	}
}

// release ends a statement: the next one for those who wait takes its place, in the background, so
// that the caller need not stay.
func (c *coalescer[K, V]) release() {
	batch := c.next()
	if batch == nil {
		return
	}
	go func() {
		for batch != nil {
			c.answer(batch)
			batch = c.next()
		}
	}()
}

// next takes a batch off the queue. Without one, the statement's place is free.
func (c *coalescer[K, V]) next() []*lookup[K, V] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.waiting) == 0 {
		c.running--
		return nil
	}
	n := min(len(c.waiting), maxCoalesced)
	batch := append([]*lookup[K, V](nil), c.waiting[:n]...)
	rest := copy(c.waiting, c.waiting[n:])
	clear(c.waiting[rest:])
	c.waiting = c.waiting[:rest]
	return batch
}

// answer runs one statement and hands each caller its answer.
func (c *coalescer[K, V]) answer(batch []*lookup[K, V]) {
	batch = stillWanted(batch)
	switch len(batch) {
	case 0:
		return
	case 1:
		c.answerAlone(batch[0])
		return
	}
	ctx, cancel := context.WithDeadline(context.Background(), latestDeadline(batch))
	defer cancel()
	keys := make([]K, len(batch))
	for i, l := range batch {
		keys[i] = l.key
	}
	answers, err := c.many(ctx, keys)
	if err == nil {
		for i, l := range batch {
			l.done <- answers[i]
		}
		return
	}
	for _, l := range batch {
		if fault.KindOf(err) == fault.Unavailable {
			l.done <- found[V]{err: err}
		} else {
			c.answerAlone(l)
		}
	}
}

func (c *coalescer[K, V]) answerAlone(l *lookup[K, V]) {
	value, err := c.one(l.ctx, l.key)
	l.done <- found[V]{value, err}
}

// stillWanted leaves out those who have gone.
func stillWanted[K, V any](batch []*lookup[K, V]) []*lookup[K, V] {
	kept := batch[:0]
	for _, l := range batch {
		if l.ctx.Err() == nil {
			kept = append(kept, l)
		}
	}
	return kept
}

// latestDeadline gives a statement the time of its most patient caller.
func latestDeadline[K, V any](batch []*lookup[K, V]) time.Time {
	latest, bound := time.Time{}, time.Now().Add(coalesceTimeout)
	for _, l := range batch {
		deadline, ok := l.ctx.Deadline()
		if !ok || deadline.After(bound) {
			return bound
		}
		if deadline.After(latest) {
			latest = deadline
		}
	}
	return latest
}
