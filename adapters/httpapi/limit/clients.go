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
	interval time.Duration // for one more
	burst    int           // at once
	known    *lru.Cache[uint64, *rate.Limiter]
}

// newClients allows each key many in a period, and burst at once.
func newClients(many int, period time.Duration, burst int) *clients {
	return &clients{interval: period / time.Duration(many), burst: burst, known: latest[*rate.Limiter]()}
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
	return c.wait(of.TokensAt(now))
}

// peek returns what take would, without counting.
func (c *clients) peek(key uint64, now time.Time) time.Duration {
	if known, ok := c.known.Get(key); ok {
		if left := known.TokensAt(now); left < 1 {
			return c.wait(left)
		}
	}
	return 0
}

// wait returns how long it takes until one is allowed, for a key that has less left.
func (c *clients) wait(left float64) time.Duration { return max(c.time(1-left), time.Microsecond) }

// maxDebt bounds how long a key waits after charges beyond its burst.
const maxDebt = time.Hour

// charge counts one that has happened, even beyond the burst. The key then waits longer.
func (c *clients) charge(key uint64, now time.Time) {
	if of := c.of(key); c.time(-of.TokensAt(now)) < maxDebt {
		of.ReserveN(now, 1)
	}
}

func (c *clients) of(key uint64) *rate.Limiter {
	if known, ok := c.known.Get(key); ok {
		return known
	}
	made := rate.NewLimiter(rate.Every(c.interval), c.burst)
	if known, ok, _ := c.known.PeekOrAdd(key, made); ok {
		return known
	}
	return made
}

// time returns how long many take.
func (c *clients) time(many float64) time.Duration {
	return time.Duration(many * float64(c.interval)).Round(time.Microsecond)
}
