package gormstore

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
)

const (
	// maxCoalesced is the most keys that one statement looks up.
	maxCoalesced = 64
	// coalescePatience is how long a statement is waited for, so that lookups can be merged into the next one. One that
	// takes longer, because the database is far, or busy, or has stopped answering on that connection, is
	// not waited for: the next begins beside it.
	coalescePatience = time.Millisecond
	// coalesceTimeout bounds a statement whose callers have all gone, or never had a deadline.
	coalesceTimeout = 30 * time.Second
)

// coalescer merges lookups of one kind that wait at the same moment into one statement. Nothing is kept:
// an answer is as fresh as if each lookup had run by itself, and when the database is idle each does.
//
// Every caller keeps its own deadline, and one that goes away harms nobody else. When a statement for
// several keys fails for another reason than the database being away, each lookup runs by itself, so
// that a key which the database chokes on spoils its own answer only.
type coalescer[K, V any] struct {
	one  func(context.Context, K) (V, error)
	many func(context.Context, []K) ([]found[V], error) // an answer for each key, in their order
	most int                                            // statements at once; 0: never merge

	patience time.Duration // coalescePatience unless set otherwise
	largest  int           // keys in a statement: maxCoalesced unless set otherwise

	mu      sync.Mutex
	running []time.Time // when each statement under way began
	waiting []*lookup[K, V]
	timer   *time.Timer // begins a statement for those who wait when nothing else happens
	armed   bool

	lookups sync.Pool // of *lookup[K, V] that nobody else knows any more
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

// newCoalescer returns one that merges lookups with many, running up to most statements at once. It merges
// nothing when most is zero.
func newCoalescer[K, V any](most int, one func(context.Context, K) (V, error), many func(context.Context, []K) ([]found[V], error)) *coalescer[K, V] {
	return &coalescer[K, V]{one: one, many: many, most: most, patience: coalescePatience, largest: maxCoalesced}
}

// find looks one key up.
func (c *coalescer[K, V]) find(ctx context.Context, key K) (V, error) {
	if c.most == 0 {
		return c.one(ctx, key)
	}
	now := time.Now()
	c.mu.Lock()
	if len(c.waiting) == 0 && c.mayBegin(now) {
		c.running = append(c.running, now)
		c.mu.Unlock()
		defer c.release(now)
		return c.one(ctx, key)
	}
	l := c.newLookup(ctx, key)
	c.waiting = append(c.waiting, l)
	if batch := c.begin(now); batch != nil {
		go c.work(batch, now)
	}
	c.mu.Unlock()
	select {
	case answer := <-l.done:
		l.ctx = nil
		c.lookups.Put(l)
		return answer.value, answer.err
	case <-ctx.Done(): // whoever has the lookup keeps it
		var none V
		return none, unavailable(ctx.Err())
	}
}

func (c *coalescer[K, V]) newLookup(ctx context.Context, key K) *lookup[K, V] {
	l, ok := c.lookups.Get().(*lookup[K, V])
	if !ok {
		l = &lookup[K, V]{done: make(chan found[V], 1)}
	}
	l.ctx, l.key = ctx, key
	return l
}

// begin notes that a statement begins for those who wait and returns them, or returns nil when there are none
// or a statement that is under way is worth waiting for. The caller holds mu.
//
// Whoever still waits after that is woken: by the end of a statement when no more may begin, and otherwise
// by the timer at the latest. An armed timer is left to run out, which is cheaper than stopping it: while
// lookups wait again and again it rings about once in the patience.
func (c *coalescer[K, V]) begin(now time.Time) (batch []*lookup[K, V]) {
	if len(c.waiting) > 0 && c.mayBegin(now) {
		c.running = append(c.running, now)
		batch = c.take()
	}
	if len(c.waiting) > 0 && len(c.running) < c.most && !c.armed {
		c.armed = true
		wait := c.patience - now.Sub(c.latest())
		if c.timer == nil {
			c.timer = time.AfterFunc(wait, c.ring)
		} else {
			c.timer.Reset(wait)
		}
	}
	return batch
}

// ring is what the timer does, in a goroutine of its own.
func (c *coalescer[K, V]) ring() {
	now := time.Now()
	c.mu.Lock()
	c.armed = false
	batch := c.begin(now)
	c.mu.Unlock()
	c.work(batch, now)
}

// mayBegin reports whether another statement may begin, instead of leaving those who wait to one that is
// under way. The caller holds mu.
func (c *coalescer[K, V]) mayBegin(now time.Time) bool {
	switch {
	case len(c.running) == 0:
		return true
	case len(c.running) >= c.most:
		return false
	case len(c.waiting) >= c.largest:
		return true
	}
	return now.Sub(c.latest()) >= c.patience
}

// latest returns when the youngest of the statements under way began. The caller holds mu.
func (c *coalescer[K, V]) latest() time.Time { return slices.MaxFunc(c.running, time.Time.Compare) }

// take takes a batch off the queue. The caller holds mu.
func (c *coalescer[K, V]) take() []*lookup[K, V] {
	n := min(len(c.waiting), c.largest)
	batch := append([]*lookup[K, V](nil), c.waiting[:n]...)
	rest := copy(c.waiting, c.waiting[n:])
	clear(c.waiting[rest:])
	c.waiting = c.waiting[:rest]
	return batch
}

// release ends a lookup that ran by itself. If others wait, the next statement is carried out in the
// background, so that the caller need not stay.
func (c *coalescer[K, V]) release(began time.Time) {
	if batch, begins := c.next(began); batch != nil {
		go c.work(batch, begins)
	}
}

// work answers a batch, and then those who have come meanwhile.
func (c *coalescer[K, V]) work(batch []*lookup[K, V], began time.Time) {
	for batch != nil {
		c.answer(batch)
		batch, began = c.next(began)
	}
}

// next ends the statement that began at that time, and begins one for those who wait, unless there are none
// or another statement will see to them soon.
func (c *coalescer[K, V]) next(began time.Time) ([]*lookup[K, V], time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.running, began)
	c.running = slices.Delete(c.running, i, i+1)
	now := time.Now()
	return c.begin(now), now
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
	answers, err := contained(func() ([]found[V], error) { return c.many(ctx, keys) })
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
	value, err := contained(func() (V, error) { return c.one(l.ctx, l.key) })
	l.done <- found[V]{value, err}
}

// contained turns a panic into an error: in the background, nobody else would recover it.
func contained[T any](run func() (T, error)) (value T, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fault.Wrap(fault.Internal, fault.MessageOf(nil), fmt.Errorf("panic: %v\n%s", cause, debug.Stack()))
		}
	}()
	return run()
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
