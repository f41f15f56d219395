package httpapi

import (
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/gluepot/gluepot/domain/fault"
)

// uncounted is how much each request may hold without a claim, so that small ones never have to be refused. The limit of
// connections bounds it.
const uncounted = 16 << 10

// memory is the budget of what bodies on their way and answers that wait for their clients hold together. One client may have
// half of it.
type memory struct {
	all   *semaphore.Weighted
	share int64

	mu   sync.Mutex
	held map[string]int64 // by client
}

func newMemory(bytes int64) *memory {
	return &memory{all: semaphore.NewWeighted(bytes), share: bytes / 2, held: make(map[string]int64)}
}

var errNoMemory = fault.New(fault.Unavailable, "There are too many long requests and answers at the moment. Try again.")

// claim is what one request holds of the memory.
type claim struct {
	of     *memory
	client string
	size   int64
}

// resize fails with fault.Unavailable where that would be more than there is. It does not wait: what waited would hold what
// it has.
func (c *claim) resize(bytes int64) error {
	more := max(bytes-uncounted, 0) - c.size
	switch {
	case more > 0:
		if !c.of.take(c.client, more) {
			return errNoMemory
		}
	case more < 0:
		c.of.giveBack(c.client, -more)
	}
	c.size += more
	return nil
}

func (c *claim) release() { _ = c.resize(0) } // which cannot fail

func (m *memory) take(client string, bytes int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held[client]+bytes > m.share || !m.all.TryAcquire(bytes) {
		return false
	}
	m.held[client] += bytes
	return true
}

func (m *memory) giveBack(client string, bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all.Release(bytes)
	if m.held[client] -= bytes; m.held[client] == 0 {
		delete(m.held, client)
	}
}
