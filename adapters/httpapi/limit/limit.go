// Package limit bounds what one client may ask of a node, before the database is asked.
//
// A client is the access token once this node has found it valid, and until then, or when it is not, the address that it
// comes from: made-up tokens evade nothing. An IPv6 client has its network of 64 bits for an address.
package limit

import (
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"net/netip"
	"strconv"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
)

// Config has the limits; 0 is none.
type Config struct {
	Rate          int // requests a second
	Burst         int // requests at once; 0: as many as Rate
	FailedSignIns int // tokens that are not valid, a minute and address
}

// Validate returns one error that names every wrong value.
func (c Config) Validate() error {
	var wrong []error
	if c.Rate < 0 || c.Burst < 0 || c.FailedSignIns < 0 {
		wrong = append(wrong, fmt.Errorf("the limits of a client are %d requests a second, %d at once and %d failed sign-ins a minute: "+
			"choose zero or positive numbers", c.Rate, c.Burst, c.FailedSignIns))
	}
	if c.Rate > 1_000_000 || c.Burst > 1_000_000 || c.FailedSignIns > 1_000_000 {
		wrong = append(wrong, errors.New("a limit of a client is over a million: choose less, or 0 for none"))
	}
	if c.Burst > 0 && c.Rate == 0 {
		wrong = append(wrong, errors.New("there is a limit of requests at once, but none of requests a second: choose both"))
	}
	return errors.Join(wrong...)
}

// The names of the limits.
const (
	Requests        = "requests"
	FailedSignIns   = "failed_sign_ins"
	AnonymousPastes = "anonymous_pastes" // which use cases judge, as the next
	UserPastes      = "user_pastes"
)

// Names returns all of them, so that what counts refusals can begin with zero.
func Names() []string { return []string{Requests, FailedSignIns, AnonymousPastes, UserPastes} }

// Limiter judges requests. A nil *Limiter has no limits.
type Limiter struct {
	requests, failures *clients                      // nil: no limit
	valid              *lru.Cache[uint64, time.Time] // when tokens were found valid, by their hashes
	seed               maphash.Seed
	policy             []string // the header RateLimit-Policy
	few                int      // with fewer requests left, answers say how many
	now                func() time.Time
}

// New returns nil where there are no limits.
func New(cfg Config) *Limiter {
	if cfg.Rate == 0 && cfg.FailedSignIns == 0 {
		return nil
	}
	l := &Limiter{valid: latest[time.Time](), seed: maphash.MakeSeed(), now: time.Now}
	if cfg.Rate > 0 {
		burst := cfg.Burst
		if burst == 0 {
			burst = cfg.Rate
		}
		l.requests = newClients(cfg.Rate, time.Second, burst)
		window := int(math.Ceil(float64(burst) / float64(cfg.Rate)))
		l.few = (burst + 1) / 2
		l.policy = []string{`"requests";q=` + strconv.Itoa(burst) + ";w=" + strconv.Itoa(window)}
	}
	if cfg.FailedSignIns > 0 {
		l.failures = newClients(cfg.FailedSignIns, time.Minute, cfg.FailedSignIns)
	}
	return l
}

// SetClock replaces the clock, for tests.
func (l *Limiter) SetClock(now func() time.Time) { l.now = now }

// Request is what a Limiter has to know of one.
type Request struct {
	Client    string // where it comes from: an address
	Token     string // that it presents, or ""
	InBody    bool   // it may present one in its body instead
	CrossSite bool   // a page of another site has sent it: its tokens that are not valid are counted apart from the visitor's own
}

// Verdict says what becomes of a request.
type Verdict struct {
	Refused string        // the limit that refuses it, or ""
	Retry   time.Duration // until it may be sent again, when it is refused
	// Policy and Left are the headers RateLimit-Policy and RateLimit; nil: the client has many requests left.
	Policy, Left []string
}

// Admit counts a request, if it may go on.
func (l *Limiter) Admit(r Request) (v Verdict) {
	if l == nil {
		return v
	}
	now := l.now()
	key := l.addressKey(r.Client)
	if r.Token != "" || r.InBody {
		own := l.tokenKey(r.Token)
		if at, ok := l.valid.Get(own); ok && now.Sub(at) < provenFor {
			key = own
		} else if l.failures != nil {
			if failed := l.failures.look(l.failureKey(r), now); !failed.allowed {
				return Verdict{Refused: FailedSignIns, Retry: failed.retry}
			}
		}
	}
	if l.requests == nil {
		return v
	}
	counted := l.requests.take(key, now)
	if counted.remaining < l.few {
		v.Policy = l.policy
		v.Left = []string{`"requests";r=` + strconv.Itoa(counted.remaining) + ";t=" + Seconds(counted.full)}
	}
	if !counted.allowed {
		v.Refused, v.Retry = Requests, counted.retry
	}
	return v
}

// provenFor is how long a token is a client of its own after this node has found it valid: endpoints that take none do not
// notice that it has been revoked.
const provenFor = 10 * time.Minute

// Proven notes that the token of a request is valid.
func (l *Limiter) Proven(r Request) {
	if l != nil && r.Token != "" {
		l.valid.Add(l.tokenKey(r.Token), l.now())
	}
}

// Rejected notes that the token of a request is not valid.
func (l *Limiter) Rejected(r Request) {
	if l == nil || r.Token == "" && !r.InBody {
		return
	}
	l.valid.Remove(l.tokenKey(r.Token))
	if l.failures != nil {
		l.failures.charge(l.failureKey(r), l.now()) // others may have failed since it was admitted
	}
}

// Seconds returns a time in whole seconds, rounded up: after that long, it is over.
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

// Client returns the key of a client's address. Text that is no address is its own key.
func Client(address string) string {
	parsed, err := netip.ParseAddr(address)
	if err != nil || parsed.Is4() {
		return address
	}
	return Network(parsed).String()
}

// Network returns the address that a client cannot choose by itself: an IPv6 client has 64 bits to choose from.
func Network(address netip.Addr) netip.Addr {
	if address = address.Unmap(); address.Is6() {
		network, _ := address.WithZone("").Prefix(64) // which every such address has
		address = network.Addr()
	}
	return address
}
