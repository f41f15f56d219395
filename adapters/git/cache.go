package git

import (
	"math"
	"sync"

	"github.com/go-git/go-git/v6/storage"
	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// maxCached bounds the bytes of objects in the cache. A clone asks for its repository two or three times.
const maxCached = 8 << 20

// cache has the repositories of the pastes that were asked for last. It is not for longer ones.
type cache struct {
	mu      sync.Mutex
	size    int64
	entries *simplelru.LRU[string, entry]
}

type entry struct {
	repository storage.Storer // nothing changes it
	size       int64
}

func newCache() *cache {
	c := new(cache)
	c.entries, _ = simplelru.NewLRU(math.MaxInt, func(_ string, e entry) { c.size -= e.size })
	return c
}

func (c *cache) get(key string) (storage.Storer, int64, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries.Get(key)
	return e.repository, e.size, ok
}

func (c *cache) put(key string, repository storage.Storer, size int64) {
	if size > maxCached {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries.Remove(key)
	c.entries.Add(key, entry{repository, size})
	for c.size += size; c.size > maxCached && c.entries.Len() > 0; {
		c.entries.RemoveOldest()
	}
}
