package limit

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"
)

// maxClients is how many clients each limit remembers, in 3 MiB at most. A forgotten client starts with a full burst.
const maxClients = 1 << 14

// clients is a token bucket for each of many keys. Keys are seeded hashes, which clients cannot choose.
type clients struct {
	rate  rate.Limit
	burst int // at once
	known *lru.Cache[uint64, *rate.Limiter]
}

// newClients allows each key many in a period, and burst at once.
func newClients(many int, period time.Duration, burst int) *clients {
	return &clients{rate: rate.Every(period / time.Duration(many)), burst: burst, known: latest[*rate.Limiter]()}
}

// latest returns a cache of values for the keys used last.
func latest[T any]() *lru.Cache[uint64, T] {
	cache, _ := lru.New[uint64, T](maxClients) // fails only for a size of 0
	return cache
}

// take counts one for a key and returns 0, or how long it takes until one is allowed.
func (c *clients) take(key uint64, now time.Time) time.Duration {
	of := c.of(key)
	if of.AllowN(now, 1) {
		return 0
	}
	return wait(of, now)
}

// peek returns what take would, without counting.
func (c *clients) peek(key uint64, now time.Time) time.Duration {
	if known, ok := c.known.Get(key); ok && known.TokensAt(now) < 1 {
		return wait(known, now)
	}
	return 0
}

// wait returns how long it takes until one is allowed that is not allowed now.
func wait(of *rate.Limiter, now time.Time) time.Duration {
	seconds := (1 - of.TokensAt(now)) / float64(of.Limit())
	return max(time.Duration(seconds*float64(time.Second)).Round(time.Microsecond), time.Microsecond)
}

// maxDebt bounds how long a key waits after charges beyond its burst.
const maxDebt = time.Hour

// charge counts one that has happened, even beyond the burst. The key then waits longer.
func (c *clients) charge(key uint64, now time.Time) {
	if of := c.of(key); wait(of, now) < maxDebt {
		of.ReserveN(now, 1)
	}
}

func (c *clients) of(key uint64) *rate.Limiter {
	if known, ok := c.known.Get(key); ok {
		return known
	}
	made := rate.NewLimiter(c.rate, c.burst)
	if known, ok, _ := c.known.PeekOrAdd(key, made); ok {
		return known
	}
	return made
}
