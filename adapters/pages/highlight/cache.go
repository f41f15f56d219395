package highlight

import (
	"math"
	"sync"
	"unsafe"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// cache is an LRU cache of colours with a limit in bytes.
type cache struct {
	mu          sync.Mutex
	limit, size int
	entries     *simplelru.LRU[string, Colours]
}

func newCache(limit int) *cache {
	c := &cache{limit: limit}
	onEvict := func(key string, colours Colours) { c.size -= weight(key, colours) }
	c.entries, _ = simplelru.NewLRU(math.MaxInt, onEvict) // fails only for a size of 0
	return c
}

// weight is the approximate size of an entry in bytes.
func weight(key string, colours Colours) int {
	return 300 + len(key) + cap(colours.Spans)*int(unsafe.Sizeof(Span{}))
}

// get returns the colours of a key, and whether it is in the cache.
func (c *cache) get(key string) (colours Colours, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries.Get(key)
}

func (c *cache) put(key string, colours Colours) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries.Remove(key)
	c.entries.Add(key, colours)
	for c.size += weight(key, colours); c.size > c.limit && c.entries.Len() > 0; {
		c.entries.RemoveOldest()
	}
}
