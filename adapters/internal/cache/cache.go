// Package cache has a cache that is bounded in bytes.
package cache

import (
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Cache keeps the values that were used last. It is safe for concurrent use.
type Cache[V any] struct {
	limit int64
	size  func(key string, value V) int64

	mu      sync.Mutex
	bytes   int64
	entries *simplelru.LRU[string, V]
}

// New returns a cache of at most limit bytes. size returns how many an entry takes.
func New[V any](limit int64, size func(key string, value V) int64) *Cache[V] {
	c := &Cache[V]{limit: limit, size: size}
	evicted := func(key string, value V) { c.bytes -= size(key, value) }
	c.entries, _ = simplelru.NewLRU(math.MaxInt, evicted) // fails for a size of 0 only
	return c
}

// Get returns the value of a key, and whether it is in the cache.
func (c *Cache[V]) Get(key string) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries.Get(key)
}

// Put keeps a value, unless it is larger than the cache.
func (c *Cache[V]) Put(key string, value V) {
	bytes := c.size(key, value)
	if bytes > c.limit {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries.Remove(key)
	c.entries.Add(key, value)
	for c.bytes += bytes; c.bytes > c.limit; {
		c.entries.RemoveOldest()
	}
}

// Len returns how many entries the cache has.
func (c *Cache[V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entries.Len()
}
