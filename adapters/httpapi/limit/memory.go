package limit

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
)

// Uncounted is how much each request may hold without a claim, so that small ones never wait.
const Uncounted = 16 << 10

// patience is how long a request waits for memory.
const patience = 2 * time.Second

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
	held    map[string]holding // by client
	waiting []*waiter          // in the order in which they came
}

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
	return &Memory{all: bytes, transfers: transfers, share: min(bytes/2, transfers), held: make(map[string]holding)}
}

// Share returns how many bytes one client may have for transfers.
func (m *Memory) Share() int64 { return m.share }

// Claim returns an empty claim for a request.
func (m *Memory) Claim(client string) Claim { return Claim{of: m, client: client} }

// ErrNoMemory is returned where more is asked for than there is.
var ErrNoMemory = fault.New(fault.Unavailable, "There are too many long requests and answers at the moment. Try again.")

// Claim is what one request holds of the memory. Each method that changes it takes its whole size, of which the first
// 16 KiB are free.
type Claim struct {
	amount

	of     *Memory
	client string
}

// Transfer claims that many bytes for a transfer. It waits for them for two seconds, and then fails with
// fault.Unavailable. A request that waits should hold no answer: see Try.
func (c *Claim) Transfer(ctx context.Context, bytes int64) error {
	return c.wait(ctx, counted(bytes, false))
}

// Work is Transfer for the work on a body that has arrived.
func (c *Claim) Work(ctx context.Context, bytes int64) error {
	return c.wait(ctx, counted(bytes, true))
}

// Try is Transfer without waiting. It reports whether there is memory.
func (c *Claim) Try(bytes int64) bool {
	w := c.enqueue(counted(bytes, false))
	return w == nil || !w.leave()
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
	granted chan struct{}
}

func (c *Claim) wait(ctx context.Context, want amount) error {
	if want.transfers() > c.of.share || want.size > c.of.all {
		return ErrNoMemory
	}
	w := c.enqueue(want)
	if w == nil {
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

// enqueue changes a claim and returns nil, or a waiter.
func (c *Claim) enqueue(want amount) *waiter {
	if want == c.amount || want.size == 0 && c.size == 0 {
		return nil
	}
	m, w := c.of, &waiter{claim: c, want: want}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.waiting) == 0 && m.allows(w) && m.fits(w) {
		m.set(c, want)
		return nil
	}
	w.granted = make(chan struct{})
	m.waiting = append(m.waiting, w)
	m.serve()
	if c.amount == want {
		return nil
	}
	return w
}

// leave ends the waiting, and reports whether the claim was not granted.
func (w *waiter) leave() bool {
	m := w.claim.of
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.Index(m.waiting, w)
	if i < 0 {
		return false
	}
	m.waiting = slices.Delete(m.waiting, i, i+1)
	m.serve() // it may have been in the way of others
	return true
}

// serve grants what it can. The next is the waiter whose turn it is; only those whose client has its share are passed
// over.
func (m *Memory) serve() {
	for {
		var next *waiter
		for _, w := range m.waiting {
			if m.allows(w) && (next == nil || m.before(w, next)) {
				next = w
			}
		}
		if next == nil || !m.fits(next) {
			return
		}
		m.set(next.claim, next.want)
		m.waiting = slices.DeleteFunc(m.waiting, func(w *waiter) bool { return w == next })
		close(next.granted)
	}
}

// before reports whether the turn of a waiter is before that of one who came earlier. Work is first, as it ends soon
// and holds a body. Then comes the client that holds least.
func (m *Memory) before(w, earlier *waiter) bool {
	if w.want.work != earlier.want.work {
		return w.want.work
	}
	return m.held[w.claim.client].all < m.held[earlier.claim.client].all
}

// allows reports whether a waiter stays within the share of its client.
func (m *Memory) allows(w *waiter) bool {
	more := w.want.transfers() - w.claim.transfers()
	return more <= 0 || m.held[w.claim.client].transfers+more <= m.share
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
	if m.held[c.client] = m.held[c.client].plus(change); m.held[c.client].all == 0 {
		delete(m.held, c.client)
	}
}

func (h holding) plus(change holding) holding {
	return holding{h.all + change.all, h.transfers + change.transfers}
}
