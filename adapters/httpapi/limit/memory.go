package limit

import (
	"sync"

	"github.com/gluepot/gluepot/domain/fault"
)

// uncounted is how much each request may hold without a claim, so that small ones are never refused.
const uncounted = 16 << 10

// Memory is the budget for all bodies and answers in flight. One client may use half of it.
type Memory struct {
	all, share int64

	mu    sync.Mutex
	taken int64
	held  map[string]int64 // by client
}

// NewMemory returns a budget of so many bytes.
func NewMemory(bytes int64) *Memory {
	return &Memory{all: bytes, share: bytes / 2, held: make(map[string]int64)}
}

// Share returns how many bytes one client may have.
func (m *Memory) Share() int64 { return m.share }

// Claim returns an empty claim for a request.
func (m *Memory) Claim(client string) Claim { return Claim{of: m, client: client} }

// ErrNoMemory is returned where more is asked for than there is.
var ErrNoMemory = fault.New(fault.Unavailable, "There are too many long requests and answers at the moment. Try again.")

// Claim is what one request holds of the memory.
type Claim struct {
	of     *Memory
	client string
	size   int64
}

// Resize changes the claim to that many bytes. It fails with fault.Unavailable when there is not enough memory. It does not wait: a
// waiting request would keep what it holds.
func (c *Claim) Resize(bytes int64) error {
	more, of := max(bytes-uncounted, 0)-c.size, c.of
	if more == 0 {
		return nil
	}
	of.mu.Lock()
	defer of.mu.Unlock()
	if more > 0 && (of.held[c.client]+more > of.share || of.taken+more > of.all) {
		return ErrNoMemory
	}
	c.size += more
	of.taken += more
	if of.held[c.client] += more; of.held[c.client] == 0 {
		delete(of.held, c.client)
	}
	return nil
}

// Release gives back all that is held.
func (c *Claim) Release() { _ = c.Resize(0) } // which cannot fail
