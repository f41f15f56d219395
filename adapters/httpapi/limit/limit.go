// Package limit bounds the requests of each client to a node, before the database is asked.
//
// A client is an access token that this node has found valid, or else an address: so made-up tokens evade no limit. The address of an
// IPv6 client is its network of 64 bits.
package limit

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"net/netip"
	"strconv"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// Config has the limits; 0 is none.
type Config struct {
	Rate          int // requests a second
	Burst         int // requests at once; 0: as many as Rate
	FailedSignIns int // invalid tokens per minute and address
}

// Validate returns an error if a value is wrong.
func (c Config) Validate() error {
	const most = 1_000_000
	if min(c.Rate, c.Burst, c.FailedSignIns) < 0 || max(c.Rate, c.Burst, c.FailedSignIns) > most || c.Burst > 0 && c.Rate == 0 {
		return fmt.Errorf("the limits of a client are %d requests a second, %d requests at once and %d failed sign-ins a minute: "+
			"choose numbers up to %d, or 0 for none, and a limit of requests a second beside that of requests at once",
			c.Rate, c.Burst, c.FailedSignIns, most)
	}
	return nil
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
	requests, failures *clients                      // nil: no limit
	valid              *lru.Cache[uint64, time.Time] // when tokens were found valid, by their hashes
	seed               maphash.Seed
	now                func() time.Time
}

// New returns nil if cfg has no limits.
func New(cfg Config) *Limiter {
	if cfg.Rate == 0 && cfg.FailedSignIns == 0 {
		return nil
	}
	l := &Limiter{valid: latest[time.Time](), seed: maphash.MakeSeed(), now: time.Now}
	if cfg.Rate > 0 {
		l.requests = newClients(cfg.Rate, time.Second, cmp.Or(cfg.Burst, cfg.Rate))
	}
	if cfg.FailedSignIns > 0 {
		l.failures = newClients(cfg.FailedSignIns, time.Minute, cfg.FailedSignIns)
	}
	return l
}

// SetClock replaces the clock, for tests.
func (l *Limiter) SetClock(now func() time.Time) { l.now = now }

// Request is what a Limiter needs to know of one.
type Request struct {
	Client    string // the address
	Token     string // or ""
	InBody    bool   // the body may contain a token
	CrossSite bool   // sent by a page of another site; its invalid tokens do not count against its visitor
}

// Admit counts a request. If it may not go on, it returns the limit that refuses it, and how long to wait.
func (l *Limiter) Admit(r Request) (refused string, retry time.Duration) {
	if l == nil {
		return "", 0
	}
	now := l.now()
	key := l.addressKey(r.Client)
	if r.Token != "" || r.InBody {
		own := l.tokenKey(r.Token)
		if at, ok := l.valid.Get(own); ok && now.Sub(at) < provenFor {
			key = own
		} else if l.failures != nil {
			if retry = l.failures.peek(l.failureKey(r), now); retry > 0 {
				return FailedSignIns, retry
			}
		}
	}
	if l.requests != nil {
		if retry = l.requests.take(key, now); retry > 0 {
			return Requests, retry
		}
	}
	return "", 0
}

// provenFor is how long a valid token counts as a client: endpoints that take no token do not notice that it was revoked.
const provenFor = 10 * time.Minute

// Proven notes that a token is valid.
func (l *Limiter) Proven(token string) {
	if l != nil && token != "" {
		l.valid.Add(l.tokenKey(token), l.now())
	}
}

// Rejected notes that the token of a request is not valid.
func (l *Limiter) Rejected(r Request) {
	if l == nil || r.Token == "" && !r.InBody {
		return
	}
	l.valid.Remove(l.tokenKey(r.Token))
	if l.failures != nil {
		l.failures.charge(l.failureKey(r), l.now()) // even beyond the burst: others may have failed meanwhile
	}
}

// Seconds returns a time in whole seconds, rounded up.
func Seconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}

func (l *Limiter) tokenKey(token string) uint64 { return maphash.String(l.seed, token) }

func (l *Limiter) addressKey(client string) uint64 { return maphash.String(l.seed, Client(client)) }

func (l *Limiter) failureKey(r Request) uint64 {
	if r.CrossSite {
		return maphash.String(l.seed, "cross-site "+Client(r.Client))
	}
	return l.addressKey(r.Client)
}

// Client returns the key of a client's address. Other text is its own key.
func Client(address string) string {
	parsed, err := netip.ParseAddr(address)
	if err != nil || parsed.Is4() {
		return address
	}
	return Network(parsed).String()
}

// Network returns the part of an address that a client cannot choose: of IPv6, the first 64 bits.
func Network(address netip.Addr) netip.Addr {
	if address = address.Unmap(); address.Is6() {
		network, _ := address.WithZone("").Prefix(64) // which every such address has
		address = network.Addr()
	}
	return address
}
