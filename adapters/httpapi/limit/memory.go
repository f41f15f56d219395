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

// Uncounted is how many bytes each request may hold without a claim, so that small ones never wait.
const Uncounted = 16 << 10

// patience is how long a request waits for memory.
const patience = 2 * time.Second

// maxWaiting bounds the requests that wait for memory, and maxWaitingOfOne those of one client. Further ones are
// refused at once.
const (
	maxWaiting      = 1000
	maxWaitingOfOne = maxWaiting / 2
)

// Memory is the budget for all bodies and answers in flight. A request claims what it needs at once, not piece by
// piece: requests that hold parts would block each other.
//
// A claim is for a transfer or for work. A transfer is a client that sends a body or reads an answer, which may take
// minutes. Work is the handling of a body, which takes no longer than the deadline of a request. Transfers leave room
// for the work on any body, so that slow clients do not stop those whose body has arrived. Transfers of one client may
// use half of the budget.
type Memory struct {
	all       int64
	transfers int64 // the most for transfers
	share     int64 // the most for transfers of one client

	mu      sync.Mutex
	inUse   holding
	clients map[string]*clientState // those that hold memory or wait for it
	waiting int
	number  uint64   // of the last waiter
	ready   [2]turns // for transfers and for work
}

// clientState is the memory that one address holds and waits for.
type clientState struct {
	held    holding
	waiting int
	queues  [2]queue // for transfers and for work
}

// queue has the waiters of a client for transfers, or for work, in the order of their arrival.
type queue struct {
	client  *clientState
	waiters list.List
	next    *waiter // the first one within the share of its client, or nil
	turn    int     // its index in turns, or -1
}

// turns is a heap of the queues that have a next waiter.
type turns []*queue

// holding is how many bytes are held, and how many of those for transfers.
type holding struct{ all, transfers int64 }

// amount is the size and the purpose of a claim.
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

// NewMemory returns a budget in bytes. largest is the most that the work on one body takes.
func NewMemory(bytes, largest int64) *Memory {
	transfers := bytes - largest
	return &Memory{
		all: bytes, transfers: transfers, share: min(bytes/2, transfers), clients: make(map[string]*clientState),
	}
}

// Share returns how many bytes one client may have for transfers.
func (m *Memory) Share() int64 { return m.share }

// Claim returns an empty claim for a request.
func (m *Memory) Claim(client string) Claim { return Claim{memory: m, client: client} }

// ErrNoMemory is returned when a claim exceeds the memory that is free.
var ErrNoMemory = fault.Wrap(fault.Busy, "Too many large requests and answers are in progress. Try again shortly.",
	errors.New("GLUEPOT_HTTP_MAX_MEMORY is used up: not enough became free in time, or too many requests wait for it"))

// Claim is the memory that one request holds. The methods that change it take its new size. The first 16 KiB are free.
type Claim struct {
	amount

	memory *Memory
	client string
}

// Transfer claims bytes for a transfer. It waits for up to two seconds, and then fails with fault.Busy; at once if many
// requests wait. A request that waits should not hold an answer: see Try.
func (c *Claim) Transfer(ctx context.Context, bytes int64) error {
	return c.wait(ctx, newAmount(bytes, false))
}

// Work claims bytes, as Transfer does, for the work on a body that has arrived.
func (c *Claim) Work(ctx context.Context, bytes int64) error {
	return c.wait(ctx, newAmount(bytes, true))
}

// Try claims bytes for a transfer without waiting, and reports whether there was memory.
func (c *Claim) Try(bytes int64) bool {
	w, refused := c.enqueue(newAmount(bytes, false))
	return !refused && (w == nil || !w.leave())
}

// Force claims bytes for a transfer even if the memory is exhausted.
func (c *Claim) Force(bytes int64) {
	want := newAmount(bytes, false)
	if want.size == 0 && c.size == 0 {
		return
	}
	c.memory.mu.Lock()
	defer c.memory.mu.Unlock()
	c.memory.set(c, want)
	c.memory.serve()
}

// Release gives up the claim.
func (c *Claim) Release() { c.Force(0) }

// Holds reports whether at least that many bytes are claimed for a transfer.
func (c *Claim) Holds(bytes int64) bool { return !c.work && c.size >= newAmount(bytes, false).size }

// newAmount returns what a claim of that many bytes counts: the first 16 KiB are free.
func newAmount(bytes int64, work bool) amount { return amount{max(bytes-Uncounted, 0), work} }

// waiter is a request that waits for memory.
type waiter struct {
	claim   *Claim
	want    amount
	number  uint64 // its number
	element *list.Element
	granted chan struct{}
}

func (c *Claim) wait(ctx context.Context, want amount) error {
	if want.transfers() > c.memory.share || want.size > c.memory.all {
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
	return nil // granted at the last moment
}

// enqueue changes a claim at once, or returns a waiter for it. It refuses if too many wait.
func (c *Claim) enqueue(want amount) (wait *waiter, refused bool) {
	if want == c.amount || want.size == 0 && c.size == 0 {
		return nil, false
	}
	m, w := c.memory, &waiter{claim: c, want: want}
	m.mu.Lock()
	defer m.mu.Unlock()
	client := m.clientOf(c.client)
	less := want.size <= c.size && want.transfers() <= c.transfers()
	switch {
	case less || m.waiting == 0 && m.allows(client, w) && m.fits(w):
		m.set(c, want)
		m.serve()
		return nil, false
	case m.waiting >= maxWaiting, client.waiting >= maxWaitingOfOne:
		m.update(c.client, client)
		return nil, true
	}
	m.number++
	w.number, w.granted = m.number, make(chan struct{})
	w.element = client.queue(w).waiters.PushBack(w)
	m.waiting++
	client.waiting++
	m.update(c.client, client)
	m.serve()
	if c.amount == want {
		return nil, false
	}
	return w, false
}

// leave stops waiting. It reports false if the claim was granted before.
func (w *waiter) leave() bool {
	m := w.claim.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	if w.element == nil {
		return false
	}
	m.remove(w)
	m.update(w.claim.client, m.clientOf(w.claim.client))
	m.serve() // others may have waited behind it
	return true
}

// remove takes a waiter out of its queue. The caller must call update then.
func (m *Memory) remove(w *waiter) {
	client := m.clientOf(w.claim.client)
	client.queue(w).waiters.Remove(w.element)
	w.element = nil
	m.waiting--
	client.waiting--
}

// serve grants claims while there is memory, in the order of turns. It passes over only waiters whose client has used
// up its share.
func (m *Memory) serve() {
	for {
		turns := m.ready[1] // work comes first: it ends soon, and holds a body
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

// clientOf returns the client of that name. The caller must call update after changing it.
func (m *Memory) clientOf(name string) *clientState {
	client := m.clients[name]
	if client == nil {
		client = new(clientState)
		for i := range client.queues {
			client.queues[i].client, client.queues[i].turn = client, -1
		}
		m.clients[name] = client
	}
	return client
}

// queue returns the queue for a waiter.
func (c *clientState) queue(w *waiter) *queue {
	if w.want.work {
		return &c.queues[1]
	}
	return &c.queues[0]
}

// update finds the next waiters of a client that has changed. It forgets a client that neither holds memory nor waits.
func (m *Memory) update(name string, client *clientState) {
	for i := range client.queues {
		q := &client.queues[i]
		q.next = nil
		for e := q.waiters.Front(); e != nil && q.next == nil; e = e.Next() {
			if w, _ := e.Value.(*waiter); m.allows(client, w) {
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
	if client.held.all == 0 && client.waiting == 0 {
		delete(m.clients, name)
	}
}

// Less implements heap.Interface. The client that holds least comes first, then the waiter that arrived first.
func (t turns) Less(i, j int) bool {
	x, y := t[i], t[j]
	return cmp.Or(cmp.Compare(x.client.held.all, y.client.held.all), cmp.Compare(x.next.number, y.next.number)) < 0
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
	last, _ := q.(*queue)
	last.turn = len(*t)
	*t = append(*t, last)
}

// Pop implements heap.Interface.
func (t *turns) Pop() any {
	last := (*t)[len(*t)-1]
	last.turn = -1
	*t = (*t)[:len(*t)-1]
	return last
}

// allows reports whether a waiter's claim would stay within the share of its client.
func (m *Memory) allows(client *clientState, w *waiter) bool {
	more := w.want.transfers() - w.claim.transfers()
	return more <= 0 || client.held.transfers+more <= m.share
}

// fits reports whether there is enough memory for a waiter's claim.
func (m *Memory) fits(w *waiter) bool {
	more, moreTransfers := w.want.size-w.claim.size, w.want.transfers()-w.claim.transfers()
	return (more <= 0 || m.inUse.all+more <= m.all) &&
		(moreTransfers <= 0 || m.inUse.transfers+moreTransfers <= m.transfers)
}

// set changes a claim and the sums that it is part of.
func (m *Memory) set(c *Claim, to amount) {
	change := holding{to.size - c.size, to.transfers() - c.transfers()}
	c.amount = to
	m.inUse = m.inUse.plus(change)
	client := m.clientOf(c.client)
	client.held = client.held.plus(change)
	m.update(c.client, client)
}

func (h holding) plus(change holding) holding {
	return holding{h.all + change.all, h.transfers + change.transfers}
}
