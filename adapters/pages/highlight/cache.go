package highlight

import (
	"math"
	"sync"
	"time"
	"unsafe"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// cache is an LRU cache of spans, bounded in bytes.
type cache struct {
	mu          sync.Mutex
	limit, size int
	entries     *simplelru.LRU[string, entry]
}

type entry struct {
	spans []Span
	until time.Time // zero: forever
}

// failedFor is how long code that could not be highlighted is not tried again. The processor may only have been busy.
const failedFor = time.Minute

func newCache(limit int) *cache {
	c := &cache{limit: limit}
	c.entries, _ = simplelru.NewLRU(math.MaxInt, func(key string, e entry) { c.size -= weight(key, e) }) // fails for a size of 0 only
	return c
}

// weight is the approximate size of an entry in bytes.
func weight(key string, e entry) int { return 300 + len(key) + cap(e.spans)*int(unsafe.Sizeof(Span{})) }

// get returns the spans of a key, nil if its code could not be highlighted, and whether the key is in the cache.
func (c *cache) get(key string, now time.Time) (spans []Span, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries.Get(key)
	if ok && !e.until.IsZero() && now.After(e.until) {
		c.entries.Remove(key)
		return nil, false
	}
	return e.spans, ok
}

func (c *cache) put(key string, spans []Span, now time.Time) {
	e := entry{spans: spans}
	if spans == nil {
		e.until = now.Add(failedFor)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries.Remove(key)
	c.entries.Add(key, e)
	for c.size += weight(key, e); c.size > c.limit && c.entries.Len() > 0; {
		c.entries.RemoveOldest()
	}
}
