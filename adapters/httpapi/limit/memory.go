package limit

import (
	"cmp"
	"container/heap"
	"container/list"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
)

// Uncounted is how much each request may hold without a claim, so that small ones never wait.
const Uncounted = 16 << 10

// patience is how long a request waits for memory.
const patience = 2 * time.Second

// maxWaiting bounds the requests that wait for memory, and maxWaitingOfOne those of one client. More are refused at
// once.
const (
	maxWaiting      = 1000
	maxWaitingOfOne = maxWaiting / 2
)

// Memory is the budget for all bodies and answers in flight. A request claims what it needs at once, not piece by
// piece: requests that hold parts would keep each other waiting.
//
// A claim is for a transfer while a client sends a body or reads an answer, which may take minutes, or for work while a
// body is handled, which takes no longer than the deadline of a request. Transfers leave room for the work on any body,
// so that slow clients do not stop those whose body has arrived. One client may have half of the budget for transfers.
type Memory struct {
	all       int64
	transfers int64 // the most for transfers
	share     int64 // the most for transfers of one client

	mu      sync.Mutex
	taken   holding
	clients map[string]*client // that hold something, or wait
	waiting int
	arrived uint64   // of the last waiter
	ready   [2]turns // for transfers and for work
}

// client is an address with what it holds and waits for.
type client struct {
	held    holding
	waiting int
	queues  [2]queue // for transfers and for work
}

// queue has the waiters of a client for transfers, or for work, in the order in which they came.
type queue struct {
	of      *client
	waiters list.List
	next    *waiter // the first that stays within the share of its client, or nil
	turn    int     // its place in turns, or -1
}

// turns is a heap of the queues with a next waiter.
type turns []*queue

// holding is how many bytes are held, and how many of them for transfers.
type holding struct{ all, transfers int64 }

// amount is what a claim has.
type amount struct {
	size int64
	work bool // not for a transfer
}

func (a amount) transfers() int64 {
	if a.work {
		return 0
	}
	return a.size
}

// NewMemory returns a budget of so many bytes. largest is the most that the work on one body takes.
func NewMemory(bytes, largest int64) *Memory {
	transfers := bytes - largest
	return &Memory{all: bytes, transfers: transfers, share: min(bytes/2, transfers), clients: make(map[string]*client)}
}

// Share returns how many bytes one client may have for transfers.
func (m *Memory) Share() int64 { return m.share }

// Claim returns an empty claim for a request.
func (m *Memory) Claim(client string) Claim { return Claim{of: m, client: client} }

// ErrNoMemory is returned where more is asked for than there is.
var ErrNoMemory = fault.Wrap(fault.Busy, "There are too many long requests and answers at the moment. Try again.",
	errors.New("GLUEPOT_HTTP_MAX_MEMORY is in use, and nothing came free in time or too many requests wait for it"))

// Claim is what one request holds of the memory. Each method that changes it takes its whole size, of which the first
// 16 KiB are free.
type Claim struct {
	amount

	of     *Memory
	client string
}

// Transfer claims that many bytes for a transfer. It waits for them for two seconds, and then fails with
// fault.Busy, at once if many wait. A request that waits should hold no answer: see Try.
func (c *Claim) Transfer(ctx context.Context, bytes int64) error {
	return c.wait(ctx, counted(bytes, false))
}

// Work is Transfer for the work on a body that has arrived.
func (c *Claim) Work(ctx context.Context, bytes int64) error {
	return c.wait(ctx, counted(bytes, true))
}

// Try is Transfer without waiting. It reports whether there is memory.
func (c *Claim) Try(bytes int64) bool {
	w, refused := c.enqueue(counted(bytes, false))
	return !refused && (w == nil || !w.leave())
}

// Force claims that many bytes for a transfer, even if there are not enough.
func (c *Claim) Force(bytes int64) {
	want := counted(bytes, false)
	if want.size == 0 && c.size == 0 {
		return
	}
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.of.set(c, want)
	c.of.serve()
}

// Release gives back all that is held.
func (c *Claim) Release() { c.Force(0) }

// Holds reports whether that many bytes are claimed for a transfer.
func (c *Claim) Holds(bytes int64) bool { return !c.work && c.size >= counted(bytes, false).size }

func counted(bytes int64, work bool) amount { return amount{max(bytes-Uncounted, 0), work} }

// waiter is a request that waits for memory.
type waiter struct {
	claim   *Claim
	want    amount
	arrived uint64 // its number
	place   *list.Element
	granted chan struct{}
}

func (c *Claim) wait(ctx context.Context, want amount) error {
	if want.transfers() > c.of.share || want.size > c.of.all {
		return ErrNoMemory
	}
	w, refused := c.enqueue(want)
	switch {
	case refused:
		return ErrNoMemory
	case w == nil:
		return nil
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-w.granted:
		return nil
	case <-timer.C:
	case <-ctx.Done():
	}
	if w.leave() {
		return ErrNoMemory
	}
	return nil // it was granted at the last moment
}

// enqueue changes a claim and returns nil, or a waiter. It refuses when too many wait.
func (c *Claim) enqueue(want amount) (wait *waiter, refused bool) {
	if want == c.amount || want.size == 0 && c.size == 0 {
		return nil, false
	}
	m, w := c.of, &waiter{claim: c, want: want}
	m.mu.Lock()
	defer m.mu.Unlock()
	of := m.clientOf(c.client)
	less := want.size <= c.size && want.transfers() <= c.transfers()
	switch {
	case less || m.waiting == 0 && m.allows(of, w) && m.fits(w):
		m.set(c, want)
		m.serve()
		return nil, false
	case m.waiting >= maxWaiting, of.waiting >= maxWaitingOfOne:
		m.update(c.client, of)
		return nil, true
	}
	m.arrived++
	w.arrived, w.granted = m.arrived, make(chan struct{})
	w.place = of.queue(w).waiters.PushBack(w)
	m.waiting++
	of.waiting++
	m.update(c.client, of)
	m.serve()
	if c.amount == want {
		return nil, false
	}
	return w, false
}

// leave ends the waiting, and reports whether the claim was not granted.
func (w *waiter) leave() bool {
	m := w.claim.of
	m.mu.Lock()
	defer m.mu.Unlock()
	if w.place == nil {
		return false
	}
	m.remove(w)
	m.update(w.claim.client, m.clientOf(w.claim.client))
	m.serve() // it may have been in the way of others
	return true
}

// remove takes a waiter out of its queue. Call update then.
func (m *Memory) remove(w *waiter) {
	of := m.clientOf(w.claim.client)
	of.queue(w).waiters.Remove(w.place)
	w.place = nil
	m.waiting--
	of.waiting--
}

// serve grants what it can. The next is the waiter whose turn it is; only those whose client has its share are passed
// over.
func (m *Memory) serve() {
	for {
		turns := m.ready[1] // work is first, as it ends soon and holds a body
		if len(turns) == 0 {
			turns = m.ready[0]
		}
		if len(turns) == 0 || !m.fits(turns[0].next) {
			return
		}
		next := turns[0].next
		m.remove(next)
		m.set(next.claim, next.want)
		close(next.granted)
	}
}

// clientOf returns the client of that name. Call update when it has changed.
func (m *Memory) clientOf(name string) *client {
	of := m.clients[name]
	if of == nil {
		of = new(client)
		for i := range of.queues {
			of.queues[i].of, of.queues[i].turn = of, -1
		}
		m.clients[name] = of
	}
	return of
}

// queue returns where a waiter waits.
func (c *client) queue(w *waiter) *queue {
	if w.want.work {
		return &c.queues[1]
	}
	return &c.queues[0]
}

// update finds the next waiters of a client that has changed, and forgets a client that neither holds nor waits.
func (m *Memory) update(name string, of *client) {
	for i := range of.queues {
		q := &of.queues[i]
		q.next = nil
		for e := q.waiters.Front(); e != nil && q.next == nil; e = e.Next() {
			if w, _ := e.Value.(*waiter); m.allows(of, w) {
				q.next = w
			}
		}
		switch {
		case q.next == nil && q.turn >= 0:
			heap.Remove(&m.ready[i], q.turn)
		case q.next != nil && q.turn >= 0:
			heap.Fix(&m.ready[i], q.turn)
		case q.next != nil:
			heap.Push(&m.ready[i], q)
		}
	}
	if of.held.all == 0 && of.waiting == 0 {
		delete(m.clients, name)
	}
}

// Less implements heap.Interface. The client that holds least is first, and then the waiter that came first.
func (t turns) Less(i, j int) bool {
	x, y := t[i], t[j]
	return cmp.Or(cmp.Compare(x.of.held.all, y.of.held.all), cmp.Compare(x.next.arrived, y.next.arrived)) < 0
}

// Len implements heap.Interface.
func (t turns) Len() int { return len(t) }

// Swap implements heap.Interface.
func (t turns) Swap(i, j int) {
	t[i], t[j] = t[j], t[i]
	t[i].turn, t[j].turn = i, j
}

// Push implements heap.Interface.
func (t *turns) Push(q any) {
	added, _ := q.(*queue)
	added.turn = len(*t)
	*t = append(*t, added)
}

// Pop implements heap.Interface.
func (t *turns) Pop() any {
	last := (*t)[len(*t)-1]
	last.turn = -1
	*t = (*t)[:len(*t)-1]
	return last
}

// allows reports whether a waiter stays within the share of its client.
func (m *Memory) allows(of *client, w *waiter) bool {
	more := w.want.transfers() - w.claim.transfers()
	return more <= 0 || of.held.transfers+more <= m.share
}

// fits reports whether there is enough memory for a waiter.
func (m *Memory) fits(w *waiter) bool {
	more, moreTransfers := w.want.size-w.claim.size, w.want.transfers()-w.claim.transfers()
	return (more <= 0 || m.taken.all+more <= m.all) &&
		(moreTransfers <= 0 || m.taken.transfers+moreTransfers <= m.transfers)
}

// set changes a claim.
func (m *Memory) set(c *Claim, to amount) {
	change := holding{to.size - c.size, to.transfers() - c.transfers()}
	c.amount = to
	m.taken = m.taken.plus(change)
	of := m.clientOf(c.client)
	of.held = of.held.plus(change)
	m.update(c.client, of)
}

func (h holding) plus(change holding) holding {
	return holding{h.all + change.all, h.transfers + change.transfers}
}
