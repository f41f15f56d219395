package httpapi

import (
	"hash/maphash"
	"math"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
)

// Limits bound what one client may ask of a node; 0 is no limit. They are judged before the database is asked.
//
// A client is the access token once this node has found it valid, and until then, or when it is not, the address that it
// comes from: made-up tokens evade nothing. An IPv6 client has its network of 64 bits for an address.
type Limits struct {
	Rate          int // requests a second
	Burst         int // requests at once; 0: as many as Rate
	FailedSignIns int // tokens that are not valid, a minute and address
}

// limits are those that are in force. A nil *limits has none.
type limits struct {
	requests, failures *gcra     // nil: no limit
	valid              *lastSeen // tokens by their hashes
	seed               maphash.Seed
	policy             []string         // the header RateLimit-Policy
	few                int              // with fewer requests left, a client is told how many
	now                func() time.Time // steady: if the clock were put back an hour, who has just asked would wait for that long
}

func newLimits(cfg Limits, now func() time.Time) *limits {
	if cfg.Rate == 0 && cfg.FailedSignIns == 0 {
		return nil
	}
	l := &limits{valid: new(lastSeen), seed: maphash.MakeSeed(), now: now}
	if cfg.Rate > 0 {
		burst := cfg.Burst
		if burst == 0 {
			burst = cfg.Rate
		}
		l.requests = newGCRA(cfg.Rate, time.Second, burst)
		window := int(math.Ceil(float64(burst) / float64(cfg.Rate)))
		l.few = (burst + 1) / 2
		l.policy = []string{`"requests";q=` + strconv.Itoa(burst) + ";w=" + strconv.Itoa(window)}
	}
	if cfg.FailedSignIns > 0 {
		l.failures = newGCRA(cfg.FailedSignIns, time.Minute, cfg.FailedSignIns)
	}
	return l
}

// admit counts a request from an address and reports whether it may go on; otherwise it has been answered.
func (a *API) admit(c *gin.Context, client, route string, page bool) bool {
	l := a.limits
	if l == nil || route == PathAlive || route == PathReady || c.Request.Method == http.MethodOptions {
		return true
	}
	now := l.now()
	address := l.addressKey(client)
	key := address
	if token, inBody := a.presented(c, page); token != "" || inBody {
		if own := l.tokenKey(token); now.UnixNano()-l.valid.at(own) < int64(provenFor) {
			key = own
		} else if l.failures != nil {
			if v := l.failures.look(address, now); !v.allowed {
				a.tooMany(c, limitFailedSignIns, v.retry,
					"Too many access tokens that are not valid came from your address. Try again after the time in Retry-After.")
				return false
			}
		}
	}
	if l.requests == nil {
		return true
	}
	v := l.requests.take(key, now)
	if v.remaining < l.few {
		header := c.Writer.Header()
		header["Ratelimit-Policy"] = l.policy // as net/http spells it
		header["Ratelimit"] = []string{requestsLeft(v)}
	}
	if !v.allowed {
		a.tooMany(c, limitRequests, v.retry, "You send too many requests. Try again after the time in Retry-After.")
	}
	return v.allowed
}

// requestsLeft is the header RateLimit. Somebody who asks much gets it often, and so it is made in one piece.
func requestsLeft(v verdict) string {
	text := append(make([]byte, 0, 48), `"requests";r=`...)
	text = strconv.AppendInt(text, int64(v.remaining), 10)
	text = append(text, ";t="...)
	return string(strconv.AppendInt(text, wholeSeconds(v.full), 10))
}

// settle notes what the answer to a request from an address says of the token that it presents.
func (a *API) settle(c *gin.Context, client string, page bool) {
	l := a.limits
	if l == nil {
		return
	}
	token, inBody := a.presented(c, page)
	if token == "" && !inBody {
		return
	}
	now := l.now()
	switch status := c.Writer.Status(); {
	case status == http.StatusUnauthorized || c.GetBool(rejectedTokenKey):
		l.valid.update(l.tokenKey(token), func(int64) int64 { return 0 })
		if l.failures != nil {
			l.failures.charge(l.addressKey(client), now) // others may have failed since it was admitted
		}
	case status < http.StatusBadRequest && !inBody && c.GetBool(provesTokenKey):
		l.valid.update(l.tokenKey(token), func(int64) int64 { return now.UnixNano() })
	}
}

// presented returns the token that a request comes with, or "", and whether there may be one in its body instead.
func (a *API) presented(c *gin.Context, page bool) (token string, inBody bool) {
	if page {
		return a.pages.Token(c.Request)
	}
	return presentedToken(c), false
}

// noteRejected leaves for settle that the token was rejected, though the answer does not say so.
func (l *limits) noteRejected(c *gin.Context, rejected bool) {
	if l != nil && rejected {
		c.Set(rejectedTokenKey, true)
	}
}

// rejectedTokenKey says of a request that its token was rejected: endpoints that answer without one too do not say it by 401.
const rejectedTokenKey = "rejectedToken"

// provenFor is how long a token is a client of its own after this node has found it valid: endpoints that take none do not
// notice that it has been revoked.
const provenFor = 10 * time.Minute

// provesTokenKey says of a request that its endpoint answers a token that is not valid with 401.
const provesTokenKey = "provesToken"

// What Config.OnLimited calls the limits.
const (
	limitRequests        = "requests"
	limitFailedSignIns   = "failed_sign_ins"
	limitAnonymousPastes = "anonymous_pastes"
)

// limitNames are all of them.
var limitNames = []string{limitRequests, limitFailedSignIns, limitAnonymousPastes}

// LimitNames returns what Config.OnLimited is told, so that whoever counts can begin with zero.
func LimitNames() []string { return slices.Clone(limitNames) }

// tooMany answers a request that a limit refuses with 429 (RFC 6585, 4).
func (a *API) tooMany(c *gin.Context, limit string, retry time.Duration, message string) {
	if a.onLimited != nil {
		a.onLimited(limit)
	}
	c.Header("Retry-After", seconds(retry))
	a.problem(c, http.StatusTooManyRequests, message)
}

func seconds(d time.Duration) string { return strconv.FormatInt(wholeSeconds(d), 10) }

// wholeSeconds rounds up: whoever waits so long has waited long enough.
func wholeSeconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

func (l *limits) tokenKey(token string) uint64 { return maphash.String(l.seed, token) }

// addressKey is that of an address.
func (l *limits) addressKey(client string) uint64 {
	network, ok := networkOf(client)
	if !ok {
		return maphash.String(l.seed, client)
	}
	return maphash.Comparable(l.seed, network)
}

// networkOf returns the address that a client cannot choose by itself: an IPv6 client has 64 bits to choose from.
func networkOf(client string) (netip.Addr, bool) {
	address, err := netip.ParseAddr(client)
	if err != nil {
		return netip.Addr{}, false
	}
	if address = address.Unmap(); address.Is6() {
		network, _ := address.WithZone("").Prefix(64) // which every such address has
		address = network.Addr()
	}
	return address, true
}
