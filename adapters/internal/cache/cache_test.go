package cache

import (
	"strings"
	"testing"
)

func TestCache(t *testing.T) {
	t.Parallel()
	c := New(10_000, func(key, value string) int64 { return int64(len(key) + len(value)) })
	value := strings.Repeat("x", 1000)
	for i := range 100 {
		c.Put(string(rune('0'+i)), value)
		if _, ok := c.Get("0"); !ok {
			t.Fatalf("after %d: got nothing for the key that was used last, want its value", i)
		}
		if c.bytes > 10_000 {
			t.Fatalf("got %d bytes, want at most 10,000", c.bytes)
		}
	}
	if n := c.Len(); n != 9 {
		t.Errorf("got %d entries, want 9 of about 1,000 bytes", n)
	}
	bytes := c.bytes
	if c.Put("0", value[1:]); c.bytes != bytes-1 {
		t.Errorf("got %d bytes after a shorter value of the same key, want %d", c.bytes, bytes-1)
	}
	c.Put("large", strings.Repeat("x", 10_000))
	if _, ok := c.Get("large"); ok || c.Len() != 9 {
		t.Errorf("got %d entries after one that is larger than the cache, want the 9 from before", c.Len())
	}
}
