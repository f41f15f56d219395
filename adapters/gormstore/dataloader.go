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
	// maxBatch is the most keys that one statement looks up.
	maxBatch = 64
	// batchPatience is how long a statement is waited for, so that lookups can be merged into the next one. One that
	// takes longer, because the database is far, or busy, or has stopped answering on that connection, is
	// not waited for: the next begins beside it.
	batchPatience = time.Millisecond
	// batchTimeout bounds a statement whose callers have all gone, or never had a deadline.
	batchTimeout = 30 * time.Second
)

// dataloader is a batching dataloader without a cache, also known as a coalescer: it merges lookups of one kind that
// wait at the same moment into one statement. Nothing is kept: an answer is as fresh as if each lookup had run by
// itself, and when the database is idle each does.
//
// Every caller keeps its own deadline, and one that goes away harms nobody else. When a statement for
// several keys fails for another reason than the database being away, each lookup runs by itself, so
// that a key which the database chokes on spoils its own answer only.
//
// Why it is there: under load PostgreSQL spends more on each statement than on each row. Without it a profile takes the
// database 30 µs of processor time instead of 5 to 8 (decision 0009).
type dataloader[K, V any] struct {
	one   func(context.Context, K) (V, error)
	many  func(context.Context, []K) ([]found[V], error) // an answer for each key, in their order
	most  int                                            // statements at once; 0: never merge
	gates []*gate                                        // what each statement passes

	patience time.Duration // batchPatience unless set otherwise
	largest  int           // keys in a statement: maxBatch unless set otherwise
	sizes    *batchSizes   // counts its statements, and has who traces them

	mu      sync.Mutex
	running []time.Time // when each statement under way began
	waiting []*waiter[K, V]
	timer   *time.Timer // begins a statement for those who wait when nothing else happens
	armed   bool

	// waiters holds *waiter[K, V] that nobody else knows any more: without it, 32 clients get 3 % fewer profiles.
	waiters sync.Pool
}

// found is the answer to one key of several.
type found[V any] struct {
	value V
	err   error
}

// waiter is a caller that waits for a statement.
type waiter[K, V any] struct {
	ctx  context.Context //nolint:containedctx // it travels with the request it belongs to
	key  K
	done chan found[V] // has room for the one answer
}

func (w *waiter[K, V]) tell(answer found[V]) { w.done <- answer }

// newDataloader returns one that merges lookups with many, running up to most statements at once. It merges
// nothing when most is zero. Both one and many pass the gates.
func newDataloader[K, V any](
	most int, sizes *batchSizes, one func(context.Context, K) (V, error), many func(context.Context, []K) ([]found[V], error),
	gates ...*gate,
) *dataloader[K, V] {
	return &dataloader[K, V]{
		one: one, many: many, most: most, gates: gates, sizes: sizes, patience: batchPatience, largest: maxBatch,
	}
}

// find looks one key up. It fails with errNested as enter does, which cannot tell so by itself: a merged statement passes the gates in
// a goroutine where no visitor is on the stack.
func (d *dataloader[K, V]) find(ctx context.Context, key K) (V, error) {
	if d.most == 0 {
		return d.one(ctx, key)
	}
	if wouldNest(d.gates) {
		var none V
		return none, errNested
	}
	now := time.Now()
	d.mu.Lock()
	if len(d.waiting) == 0 && d.mayBegin(now) {
		d.running = append(d.running, now)
		d.mu.Unlock()
		defer d.release(now)
		d.sizes.add(1)
		return d.one(ctx, key)
	}
	w := d.newWaiter(ctx, key)
	d.waiting = append(d.waiting, w)
	if batch := d.begin(now); batch != nil {
		go d.work(batch, now)
	}
	d.mu.Unlock()
	select {
	case answer := <-w.done:
		w.ctx = nil
		d.waiters.Put(w)
		return answer.value, answer.err
	case <-ctx.Done(): // whoever has the waiter keeps it
		var none V
		return none, unavailable(ctx.Err())
	}
}

func (d *dataloader[K, V]) newWaiter(ctx context.Context, key K) *waiter[K, V] {
	w, ok := d.waiters.Get().(*waiter[K, V])
	if !ok {
		w = &waiter[K, V]{done: make(chan found[V], 1)}
	}
	w.ctx, w.key = ctx, key
	return w
}

// begin notes that a statement begins for those who wait and returns them, or returns nil when there are none
// or a statement that is under way is worth waiting for. The caller holds mu.
//
// Whoever still waits after that is woken: by the end of a statement when no more may begin, and otherwise
// by the timer at the latest. An armed timer is left to run out, which is cheaper than stopping it: while
// lookups wait again and again it rings about once in the patience.
func (d *dataloader[K, V]) begin(now time.Time) (batch []*waiter[K, V]) {
	if len(d.waiting) > 0 && d.mayBegin(now) {
		d.running = append(d.running, now)
		batch = d.take()
	}
	if len(d.waiting) > 0 && len(d.running) < d.most && !d.armed {
		d.armed = true
		wait := d.patience - now.Sub(d.latest())
		if d.timer == nil {
			d.timer = time.AfterFunc(wait, d.ring)
		} else {
			d.timer.Reset(wait)
		}
	}
	return batch
}

// ring is what the timer does, in a goroutine of its own.
func (d *dataloader[K, V]) ring() {
	now := time.Now()
	d.mu.Lock()
	d.armed = false
	batch := d.begin(now)
	d.mu.Unlock()
	d.work(batch, now)
}

// mayBegin reports whether another statement may begin, instead of leaving those who wait to one that is
// under way. The caller holds mu.
func (d *dataloader[K, V]) mayBegin(now time.Time) bool {
	switch {
	case len(d.running) == 0:
		return true
	case len(d.running) >= d.most:
		return false
	case len(d.waiting) >= d.largest:
		return true
	}
	return now.Sub(d.latest()) >= d.patience
}

// latest returns when the youngest of the statements under way began. The caller holds mu.
func (d *dataloader[K, V]) latest() time.Time { return slices.MaxFunc(d.running, time.Time.Compare) }

// take takes a batch off the queue. The caller holds mu.
func (d *dataloader[K, V]) take() []*waiter[K, V] {
	n := min(len(d.waiting), d.largest)
	batch := append([]*waiter[K, V](nil), d.waiting[:n]...)
	rest := copy(d.waiting, d.waiting[n:])
	clear(d.waiting[rest:])
	d.waiting = d.waiting[:rest]
	return batch
}

// release ends a lookup that ran by itself. If others wait, the next statement is carried out in the
// background, so that the caller need not stay.
func (d *dataloader[K, V]) release(began time.Time) {
	if batch, begins := d.next(began); batch != nil {
		go d.work(batch, begins)
	}
}

// work answers a batch, and then those who have come meanwhile.
func (d *dataloader[K, V]) work(batch []*waiter[K, V], began time.Time) {
	for batch != nil {
		d.answer(batch)
		batch, began = d.next(began)
	}
}

// next ends the statement that began at that time, and begins one for those who wait, unless there are none
// or another statement will see to them soon.
func (d *dataloader[K, V]) next(began time.Time) ([]*waiter[K, V], time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.Index(d.running, began)
	d.running = slices.Delete(d.running, i, i+1)
	now := time.Now()
	return d.begin(now), now
}

// answer runs one statement and hands each caller its answer.
func (d *dataloader[K, V]) answer(batch []*waiter[K, V]) {
	batch = stillWanted(batch)
	switch len(batch) {
	case 0:
		return
	case 1:
		d.answerAlone(batch[0])
		return
	}
	ctx, cancel := context.WithDeadline(context.Background(), latestDeadline(batch))
	defer cancel()
	keys := make([]K, len(batch))
	for i, w := range batch {
		keys[i] = w.key
	}
	d.sizes.add(len(batch))
	served := merged(ctx, d.sizes.tracer, batch)
	answers, err := contained(func() ([]found[V], error) { return d.many(served, keys) })
	if err == nil {
		for i, w := range batch {
			w.tell(answers[i])
		}
		return
	}
	for _, w := range batch {
		if fault.Is(err, fault.Unavailable) {
			w.tell(found[V]{err: err})
		} else {
			d.answerAlone(w)
		}
	}
}

func (d *dataloader[K, V]) answerAlone(w *waiter[K, V]) {
	d.sizes.add(1)
	value, err := contained(func() (V, error) { return d.one(w.ctx, w.key) })
	w.tell(found[V]{value, err})
}

// contained turns a panic into an error: in the background, nobody else would recover it.
func contained[T any](run func() (T, error)) (value T, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fault.Unforeseen(fmt.Errorf("panic: %v\n%s", cause, debug.Stack()))
		}
	}()
	return run()
}

// stillWanted leaves out those who have gone.
func stillWanted[K, V any](batch []*waiter[K, V]) []*waiter[K, V] {
	kept := batch[:0]
	for _, w := range batch {
		if w.ctx.Err() == nil {
			kept = append(kept, w)
		}
	}
	return kept
}

// latestDeadline gives a statement the time of its most patient caller.
func latestDeadline[K, V any](batch []*waiter[K, V]) time.Time {
	latest, bound := time.Time{}, time.Now().Add(batchTimeout)
	for _, w := range batch {
		deadline, ok := w.ctx.Deadline()
		if !ok || deadline.After(bound) {
			return bound
		}
		if deadline.After(latest) {
			latest = deadline
		}
	}
	return latest
}
