// Package limit bounds the requests of each client to a node, before the database is asked.
//
// A client is a user, if this node has found a token or a session of that user valid, or else an address: so made-up
// tokens evade no limit, and many tokens of one user do not either. The address of an IPv6 client is its network of 64
// bits.
package limit

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"net/http"
	"net/netip"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// Config has the limits; 0 is none.
type Config struct {
	Rate          int // requests a second
	Burst         int // requests at once; 0: as many as Rate
	FailedSignIns int // invalid tokens and other secrets per minute and address
}

// Validate returns one error that names every wrong value.
func (c Config) Validate() (wrong error) {
	const most = 1_000_000
	for _, limit := range []struct {
		setting string
		value   int
	}{
		{"GLUEPOT_LIMIT_RATE", c.Rate}, {"GLUEPOT_LIMIT_BURST", c.Burst}, {"GLUEPOT_LIMIT_FAILED_SIGN_INS", c.FailedSignIns},
	} {
		if limit.value < 0 || limit.value > most {
			wrong = errors.Join(wrong, fmt.Errorf("%s is %d: choose a number up to %d, or 0 for no limit", limit.setting,
				limit.value, most))
		}
	}
	if c.Burst > 0 && c.Rate == 0 {
		wrong = errors.Join(wrong, fmt.Errorf("GLUEPOT_LIMIT_BURST is %d without GLUEPOT_LIMIT_RATE: set that, too", c.Burst))
	}
	return wrong
}

// The names of the limits.
const (
	Requests        = "requests"
	FailedSignIns   = "failed_sign_ins"
	AnonymousPastes = "anonymous_pastes" // use cases apply this one and the next
	UserPastes      = "user_pastes"
)

// Names returns all of them, so that metrics can start at zero.
func Names() []string { return []string{Requests, FailedSignIns, AnonymousPastes, UserPastes} }

// Limiter applies limits. A nil *Limiter has none.
type Limiter struct {
	Now func() time.Time // the clock, which tests replace

	requests, failures *clients                  // nil: no limit
	valid              *lru.Cache[uint64, proof] // of tokens, by their hashes
	seed               maphash.Seed
}

// proof says when a token was found valid.
type proof struct {
	user uint64 // the key of its user
	at   time.Time
}

// New returns nil if cfg has no limits.
func New(cfg Config) *Limiter {
	if cfg.Rate == 0 && cfg.FailedSignIns == 0 {
		return nil
	}
	valid, _ := lru.New[uint64, proof](maxClients)
	l := &Limiter{valid: valid, seed: maphash.MakeSeed(), Now: time.Now}
	if cfg.Rate > 0 {
		l.requests = newClients(cfg.Rate, time.Second, cmp.Or(cfg.Burst, cfg.Rate))
	}
	if cfg.FailedSignIns > 0 {
		l.failures = newClients(cfg.FailedSignIns, time.Minute, cfg.FailedSignIns)
	}
	return l
}

// Admit counts a request that presents a token, or "", and that tries another secret, such as a delete key or one in
// its body, or does not. RemoteAddr is the client's address, without a port. It returns how much of a limit is used. If
// the request may not go on, it returns the limit that refuses it, and how long to wait.
func (l *Limiter) Admit(r *http.Request, token string, tries bool) (used Use, refused string, retry time.Duration) {
	if l == nil {
		return used, "", 0
	}
	now, key := l.Now(), l.key(Client(r.RemoteAddr))
	if token != "" {
		if found, ok := l.valid.Get(l.key(token)); ok && now.Sub(found.at) < provenFor {
			key = found.user
		} else {
			tries = true
		}
	}
	if tries && l.failures != nil {
		if retry = l.failures.peek(l.failureKey(r), now); retry > 0 {
			return Use{"failed-sign-ins", l.failures.burst, time.Minute, 0, retry}, FailedSignIns, retry
		}
	}
	if l.requests != nil {
		if used, retry = l.requests.take(key, now); retry > 0 {
			return used, Requests, retry
		}
	}
	return used, "", 0
}

// provenFor is how long a valid token counts for its user: endpoints that take no token do not notice that it was
// revoked.
const provenFor = 10 * time.Minute

// Proven notes that a token is valid, and whose it is.
func (l *Limiter) Proven(token string, owner user.ID) {
	if l != nil && token != "" {
		l.valid.Add(l.key(token), proof{l.key("user " + string(owner)), l.Now()})
	}
}

// Rejected notes that the token of a request is not valid.
func (l *Limiter) Rejected(r *http.Request, token string) {
	if l == nil {
		return
	}
	l.valid.Remove(l.key(token))
	l.Failed(r)
}

// Failed notes that a secret that a request has tried is not valid. It counts for the address alone, not for a user who
// has sent it.
func (l *Limiter) Failed(r *http.Request) {
	if l != nil && l.failures != nil {
		l.failures.charge(l.failureKey(r), l.Now()) // even beyond the burst: others may have failed since
	}
}

func (l *Limiter) key(text string) uint64 { return maphash.String(l.seed, text) }

// failureKey returns the key that an invalid secret counts for. Those that a page of another site sends do not count
// for its visitor.
func (l *Limiter) failureKey(r *http.Request) uint64 {
	if CrossSite(r) {
		return l.key("cross-site " + Client(r.RemoteAddr))
	}
	return l.key(Client(r.RemoteAddr))
}

// CrossSite reports whether a browser says that a page of another site sends the request (Fetch Metadata).
func CrossSite(r *http.Request) bool { return r.Header.Get("Sec-Fetch-Site") == "cross-site" }

// Client returns the key of a client's address. Other text is its own key.
func Client(address string) string {
	parsed, err := netip.ParseAddr(address)
	if err != nil || parsed.Is4() {
		return address
	}
	return paste.ClientNetwork(parsed).String()
}

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
	known, _ := lru.New[uint64, *rate.Limiter](maxClients) // fails only for a size of 0
	return &clients{rate: rate.Every(period / time.Duration(many)), burst: burst, known: known}
}

// take counts one for a key. It returns what is used of the requests, and 0 or how long it takes until one is allowed.
func (c *clients) take(key uint64, now time.Time) (used Use, retry time.Duration) {
	of := c.of(key)
	if !of.AllowN(now, 1) {
		retry = wait(of, now)
	}
	left := max(of.TokensAt(now), 0)
	return Use{"requests", c.burst, c.period(float64(c.burst)), int(left), c.period(float64(c.burst) - left)}, retry
}

// period is how long it takes until so many are allowed.
func (c *clients) period(many float64) time.Duration {
	return time.Duration(many / float64(c.rate) * float64(time.Second))
}

// peek returns what take would, without counting.
func (c *clients) peek(key uint64, now time.Time) time.Duration {
	if known, ok := c.known.Get(key); ok && known.TokensAt(now) < 1 {
		return wait(known, now)
	}
	return 0
}

// wait returns how long it takes until the next one is allowed.
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
