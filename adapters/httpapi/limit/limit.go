// Package limit bounds the requests of each client to a node, before they reach the database.
//
// A client is a user, if this node has seen a valid token or session of that user, or else an address. So neither
// made-up tokens nor many tokens of one user evade a limit. The address of an IPv6 client is its network of 64 bits.
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

// Config has the limits. 0 means no limit.
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
	AnonymousPastes = "anonymous_pastes" // applied by use cases, as the next one
	UserPastes      = "user_pastes"
)

// Names returns the names of all limits, so that metrics can start at zero.
func Names() []string { return []string{Requests, FailedSignIns, AnonymousPastes, UserPastes} }

// Limiter applies limits. A nil *Limiter applies none.
type Limiter struct {
	Now func() time.Time // the clock; tests replace it

	requests, failures *clients                  // nil: no limit
	valid              *lru.Cache[uint64, proof] // of tokens, by their hashes
	seed               maphash.Seed
}

// proof says when a token was last valid.
type proof struct {
	user uint64 // its user's key
	at   time.Time
}

// New returns a Limiter for cfg, or nil if cfg has no limits.
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

// Admit counts a request, whose RemoteAddr is the client's address, without a port. token is the one that it presents,
// or "". tries says whether it tries another secret, such as a delete key or one in its body. Admit returns how much of
// a limit the client has used. If the request may not go on, it also returns the limit that it exceeds, and how long to
// wait.
func (l *Limiter) Admit(r *http.Request, token string, tries bool) (use Use, exceeded string, retry time.Duration) {
	if l == nil {
		return use, "", 0
	}
	now, key := l.Now(), l.key(Client(r.RemoteAddr))
	if token != "" {
		if p, ok := l.valid.Get(l.key(token)); ok && now.Sub(p.at) < proofLifetime {
			key = p.user
		} else {
			tries = true
		}
	}
	if tries {
		if retry = l.WaitToTry(r); retry > 0 {
			return Use{"failed-sign-ins", l.failures.burst, time.Minute, 0, retry}, FailedSignIns, retry
		}
	}
	if l.requests != nil {
		if use, retry = l.requests.take(key, now); retry > 0 {
			return use, Requests, retry
		}
	}
	return use, "", 0
}

// WaitToTry returns how long a request has to wait before it may try a secret, because too many from its address were
// invalid, or 0.
func (l *Limiter) WaitToTry(r *http.Request) time.Duration {
	if l == nil || l.failures == nil {
		return 0
	}
	return l.failures.peek(l.failureKey(r), l.Now())
}

// proofLifetime is how long a valid token counts as its user. It ends because endpoints that ignore tokens do not
// notice that one was revoked.
const proofLifetime = 10 * time.Minute

// NoteValid notes that a token is valid, and its owner.
func (l *Limiter) NoteValid(token string, owner user.ID) {
	if l != nil && token != "" {
		l.valid.Add(l.key(token), proof{l.key("user " + string(owner)), l.Now()})
	}
}

// NoteInvalid notes that the token of a request is invalid.
func (l *Limiter) NoteInvalid(r *http.Request, token string) {
	if l == nil {
		return
	}
	l.valid.Remove(l.key(token))
	l.NoteFailure(r)
}

// NoteFailure notes that a secret that a request tried is invalid. It counts against the address, even if a user sent
// it.
func (l *Limiter) NoteFailure(r *http.Request) {
	if l != nil && l.failures != nil {
		l.failures.charge(l.failureKey(r), l.Now()) // even beyond the burst: others may have failed since
	}
}

func (l *Limiter) key(text string) uint64 { return maphash.String(l.seed, text) }

// failureKey returns the key that an invalid secret counts against. Those that a page of another site sends do not
// count against its visitor.
func (l *Limiter) failureKey(r *http.Request) uint64 {
	if CrossSite(r) {
		return l.key("cross-site " + Client(r.RemoteAddr))
	}
	return l.key(Client(r.RemoteAddr))
}

// CrossSite reports whether a browser says that a page of another site sent the request (Fetch Metadata).
func CrossSite(r *http.Request) bool { return r.Header.Get("Sec-Fetch-Site") == "cross-site" }

// Client returns the key of a client's address. Other text is its own key.
func Client(address string) string {
	parsed, err := netip.ParseAddr(address)
	if err != nil || parsed.Is4() {
		return address
	}
	return paste.ClientNetwork(parsed).String()
}

// maxClients is how many clients each limit remembers, in at most 3 MiB. A forgotten client starts with a full burst.
const maxClients = 1 << 14

// clients has a token bucket for each client. Its keys are seeded hashes, so that clients cannot choose them.
type clients struct {
	rate    rate.Limit
	burst   int // at once
	buckets *lru.Cache[uint64, *rate.Limiter]
}

// newClients allows each key n requests in a period, and burst at once.
func newClients(n int, period time.Duration, burst int) *clients {
	buckets, _ := lru.New[uint64, *rate.Limiter](maxClients) // fails only for a size of 0
	return &clients{rate: rate.Every(period / time.Duration(n)), burst: burst, buckets: buckets}
}

// take counts one request of a key. It returns the use of the limit, and how long until a request is allowed, or 0.
func (c *clients) take(key uint64, now time.Time) (use Use, retry time.Duration) {
	bucket := c.bucket(key)
	if !bucket.AllowN(now, 1) {
		retry = wait(bucket, now)
	}
	remaining := max(bucket.TokensAt(now), 0)
	used := float64(c.burst) - remaining
	return Use{"requests", c.burst, c.period(float64(c.burst)), int(remaining), c.period(used)}, retry
}

// period is how long it takes until n more are allowed.
func (c *clients) period(n float64) time.Duration {
	return time.Duration(n / float64(c.rate) * float64(time.Second))
}

// peek returns how long until a request is allowed, or 0, without counting one.
func (c *clients) peek(key uint64, now time.Time) time.Duration {
	if bucket, ok := c.buckets.Get(key); ok && bucket.TokensAt(now) < 1 {
		return wait(bucket, now)
	}
	return 0
}

// wait returns how long until a bucket allows the next request.
func wait(bucket *rate.Limiter, now time.Time) time.Duration {
	seconds := (1 - bucket.TokensAt(now)) / float64(bucket.Limit())
	return max(time.Duration(seconds*float64(time.Second)).Round(time.Microsecond), time.Microsecond)
}

// maxDebt bounds how long charges beyond the burst make a key wait.
const maxDebt = time.Hour

// charge counts one even beyond the burst, which makes the key wait longer.
func (c *clients) charge(key uint64, now time.Time) {
	if bucket := c.bucket(key); wait(bucket, now) < maxDebt {
		bucket.ReserveN(now, 1)
	}
}

func (c *clients) bucket(key uint64) *rate.Limiter {
	if bucket, ok := c.buckets.Get(key); ok {
		return bucket
	}
	bucket := rate.NewLimiter(c.rate, c.burst)
	if bucket, ok, _ := c.buckets.PeekOrAdd(key, bucket); ok {
		return bucket
	}
	return bucket
}
