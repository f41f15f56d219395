package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/httpapi/limit"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// limitedAPI is an API with limits and a clock of its own.
type limitedAPI struct {
	*API
	mu  sync.Mutex
	now time.Time
}

func newLimitedAPI(t *testing.T, s *store, cfg limit.Config) *limitedAPI {
	t.Helper()
	whole := DefaultConfig()
	whole.Limits, whole.TrustedProxies = cfg, []string{"10.0.0.1"}
	api, _ := newTestAPI(t, s, whole)
	l := &limitedAPI{API: api, now: time.Unix(1_000_000, 0)}
	l.limits.Now = func() time.Time {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.now
	}
	return l
}

func (l *limitedAPI) pass(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = l.now.Add(d)
}

func (l *limitedAPI) ask(method, path, from, secret string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(method, path, http.NoBody)
	request.RemoteAddr = from
	if secret != "" {
		request.Header.Set("Authorization", secret)
	}
	answer := httptest.NewRecorder()
	l.ServeHTTP(answer, request)
	return answer
}

func wantStatuses(t *testing.T, what string, want []int,
	ask func() *httptest.ResponseRecorder) (last *httptest.ResponseRecorder) {
	t.Helper()
	for i, status := range want {
		if last = ask(); last.Code != status {
			t.Errorf("%s, request %d: got %d, want %d: %s", what, i+1, last.Code, status, last.Body)
		}
	}
	return last
}

func TestRequestsAreLimited(t *testing.T) {
	t.Parallel()
	l := newLimitedAPI(t, newStore(), limit.Config{Rate: 10, Burst: 2})
	language := func(from string) func() *httptest.ResponseRecorder {
		return func() *httptest.ResponseRecorder { return l.ask(http.MethodGet, "/data/language?name=Go", from, "") }
	}
	wantStatuses(t, "one address", []int{200}, language("192.0.2.1:1000"))
	limited := wantStatuses(t, "any port of it", []int{200, 429}, language("192.0.2.1:2000"))
	if got := limited.Header().Get("Retry-After"); got != "1" {
		t.Errorf("got Retry-After %q, want 1", got)
	}
	wantStatuses(t, "another address", []int{200, 200, 429}, language("192.0.2.2:1000"))
	wantStatuses(t, "an IPv6 network of 64 bits", []int{200, 200}, language("[2001:db8::1]:1000"))
	wantStatuses(t, "its other half", []int{429}, language("[2001:db8::ffff:0:0:1]:1000"))
	wantStatuses(t, "another network", []int{200}, language("[2001:db8:0:1::1]:1000"))
	for _, path := range []string{"/healthz", "/readyz"} {
		wantStatuses(t, path, []int{200, 200, 200}, func() *httptest.ResponseRecorder {
			return l.ask(http.MethodGet, path, "192.0.2.1:1", "")
		})
	}
	wantStatuses(t, "preflight", []int{204, 204, 204}, func() *httptest.ResponseRecorder {
		return l.ask(http.MethodOptions, "/data/language", "192.0.2.1:1", "")
	})
	wantStatuses(t, "no path escapes", []int{429}, func() *httptest.ResponseRecorder {
		return l.ask(http.MethodGet, "/a%2Fb", "192.0.2.1:1", "")
	})
	l.pass(100 * time.Millisecond)
	wantStatuses(t, "a tenth of a second later", []int{200, 429}, language("192.0.2.1:1000"))
}

// TestRateLimitFields checks both header fields of limited answers, and that answers without a limit have neither.
func TestRateLimitFields(t *testing.T) {
	t.Parallel()
	const policy = "Ratelimit-Policy"
	l := newLimitedAPI(t, newStore(), limit.Config{Rate: 50, Burst: 200})
	for i, want := range []string{`"requests";r=199;t=1`, `"requests";r=198;t=1`} {
		answer := l.ask(http.MethodGet, "/data/language?name=Go", "192.0.2.1:1", "")
		if got := answer.Header().Get("RateLimit"); got != want || answer.Header().Get(policy) != `"requests";q=200;w=4` {
			t.Errorf("request %d: got %q and %q, want %q of 200 in 4 s", i+1, got, answer.Header().Get(policy), want)
		}
	}
	l = newLimitedAPI(t, newStore(), limit.Config{Rate: 1, FailedSignIns: 2})
	wantStatuses(t, "one", []int{404}, func() *httptest.ResponseRecorder {
		return l.ask(http.MethodGet, "/nothing", "192.0.2.1:1", "")
	})
	limited := l.ask(http.MethodGet, "/data/language?name=Go", "192.0.2.1:1", "")
	if got := limited.Header().Get("RateLimit"); limited.Code != http.StatusTooManyRequests ||
		got != `"requests";r=0;t=1` ||
		limited.Header().Get(policy) != `"requests";q=1;w=1` {
		t.Errorf("refused: got %d, %q and %q, want none left of 1 in 1 s", limited.Code, got, limited.Header().Get(policy))
	}
	health := l.ask(http.MethodGet, "/readyz", "192.0.2.1:1", "")
	unlimited := newLimitedAPI(t, newStore(), limit.Config{FailedSignIns: 2}).ask(http.MethodGet, "/data/language?name=Go",
		"192.0.2.1:1", "")
	for what, answer := range map[string]*httptest.ResponseRecorder{"a health check": health,
		"no limit of requests": unlimited} {
		if answer.Header().Get("RateLimit") != "" || answer.Header().Get(policy) != "" {
			t.Errorf("%s: got %v, want neither field", what, answer.Header())
		}
	}
}

func TestForwardedClientsAreLimitedEach(t *testing.T) {
	t.Parallel()
	l := newLimitedAPI(t, newStore(), limit.Config{Rate: 1})
	for i, want := range []int{200, 200, 200} {
		request := httptest.NewRequest(http.MethodGet, "/data/language?name=Go", http.NoBody)
		request.RemoteAddr = "10.0.0.1:1"
		request.Header.Set("X-Forwarded-For", "192.0.2."+strconv.Itoa(i))
		answer := httptest.NewRecorder()
		if l.ServeHTTP(answer, request); answer.Code != want {
			t.Errorf("client %d: got %d, want %d", i, answer.Code, want)
		}
	}
}

// TestUsersAreClients checks that requests with valid tokens are limited by user, whatever their address and token, and
// that an invalid token gains nothing.
func TestUsersAreClients(t *testing.T) {
	t.Parallel()
	s := newStore()
	secret := s.secret.Reveal()
	l := newLimitedAPI(t, s, limit.Config{Rate: 2, FailedSignIns: 1000})
	self := func(from, secret string) func() *httptest.ResponseRecorder {
		return func() *httptest.ResponseRecorder { return l.ask(http.MethodGet, "/user/self/pastes", from, secret) }
	}
	unknown := token.Generate()
	wantStatuses(t, "a made-up token counts for its address", []int{401, 401, 429}, self("192.0.2.1:1", unknown.Reveal()))
	wantStatuses(t, "an endpoint that takes none proves nothing", []int{200, 200, 429}, func() *httptest.ResponseRecorder {
		return l.ask(http.MethodGet, "/data/language?name=Go", "192.0.2.2:1", unknown.Reveal())
	})
	wantStatuses(t, "the first request of a valid token counts for its address", []int{200}, self("192.0.2.3:1", secret))
	another, others := token.Generate(), token.Generate()
	s.others = map[token.Hash]user.ID{another.Hash(): "hiqpz8s5", others.Hash(): "mortar01"}
	for i, valid := range []token.Secret{another, others} {
		wantStatuses(t, "so does that of another token", []int{200}, self("192.0.2."+strconv.Itoa(10+i)+":1", valid.Reveal()))
	}
	wantStatuses(t, "then the user is the client", []int{200}, self("192.0.2.4:1", secret))
	wantStatuses(t, "with any of the user's tokens", []int{200, 429}, self("192.0.2.4:1", another.Reveal()))
	wantStatuses(t, "from any address", []int{429}, self("192.0.2.5:1", secret))
	wantStatuses(t, "beside other users", []int{200, 200, 429}, self("192.0.2.4:1", others.Reveal()))
	wantStatuses(t, "which keeps its own", []int{404, 404, 429}, func() *httptest.ResponseRecorder {
		return l.ask(http.MethodGet, "/nothing", "192.0.2.5:1", "")
	})
}

func TestFailedSignInsAreLimited(t *testing.T) {
	t.Parallel()
	s := newStore()
	secret := s.secret.Reveal()
	l := newLimitedAPI(t, s, limit.Config{FailedSignIns: 2})
	self := func(from, secret string) func() *httptest.ResponseRecorder {
		return func() *httptest.ResponseRecorder { return l.ask(http.MethodGet, "/user/self/pastes", from, secret) }
	}
	wantStatuses(t, "a valid token", []int{200}, self("192.0.2.1:1", secret))
	wrong := token.Generate().Reveal()
	limited := wantStatuses(t, "tokens that are not valid", []int{401, 401, 429}, self("192.0.2.1:1", wrong))
	if got := limited.Header().Get("Retry-After"); got != "30" {
		t.Errorf("got Retry-After %q, want 30", got)
	}
	if got := s.lookups.Load(); got != 3 {
		t.Errorf("got %d lookups, want 3, and none beyond the limit", got)
	}
	wantStatuses(t, "a token known to be valid, from that address", []int{200, 200}, self("192.0.2.1:1", secret))
	wantStatuses(t, "no token", []int{401}, self("192.0.2.1:1", ""))
	wantStatuses(t, "another address", []int{401}, self("192.0.2.2:1", wrong))
	l.pass(30 * time.Second)
	wantStatuses(t, "half a minute later", []int{401, 429}, self("192.0.2.1:1", wrong))
}

// TestTokensOfOtherSites checks that a page of another site that presents invalid tokens is limited by itself, so that
// its visitor can still sign in.
func TestTokensOfOtherSites(t *testing.T) {
	t.Parallel()
	s := newStore()
	l := newLimitedAPI(t, s, limit.Config{FailedSignIns: 2})
	self := func(secret string, header ...string) func() *httptest.ResponseRecorder {
		return func() *httptest.ResponseRecorder {
			request := httptest.NewRequest(http.MethodGet, "/user/self/pastes", http.NoBody)
			request.RemoteAddr = "192.0.2.1:1"
			request.Header.Set("Authorization", secret)
			if len(header) > 0 {
				request.Header.Set("Sec-Fetch-Site", header[0])
			}
			answer := httptest.NewRecorder()
			l.ServeHTTP(answer, request)
			return answer
		}
	}
	wrong := token.Generate().Reveal()
	wantStatuses(t, "the page", []int{401, 401, 429}, self(wrong, "cross-site"))
	wantStatuses(t, "its visitor", []int{200}, self(s.secret.Reveal()))
	wantStatuses(t, "its visitor, mistaken", []int{401, 401, 429}, self(wrong, "same-origin"))
}

// TestTokensTriedAtPastesAreFailedSignIns checks that reading a paste counts invalid tokens as any other endpoint does,
// although it answers as if there were no token: for public, private and missing pastes alike.
func TestTokensTriedAtPastesAreFailedSignIns(t *testing.T) {
	t.Parallel()
	s := newStore()
	l := newLimitedAPI(t, s, limit.Config{FailedSignIns: 2})
	ask := func(method, path, from, secret string) func() *httptest.ResponseRecorder {
		return func() *httptest.ResponseRecorder { return l.ask(method, path, from, secret) }
	}
	wrong, valid := token.Generate().Reveal(), s.secret.Reveal()
	for i, c := range []struct {
		path        string
		wrong, mine int
	}{
		{"/paste/open0000", 200, 200},
		{"/paste/private0", 404, 200},
		{"/paste/absent00", 404, 404},
		{"/raw/open0000/pasty000", 200, 200},
		{"/raw/open0000/absent00", 404, 404},
		{"/raw/private0/pasty000", 404, 200},
		{"/raw/absent00/pasty000", 404, 404},
	} {
		for j, secret := range []string{wrong, "mal formed"} {
			from := "192.0.2." + strconv.Itoa(10*i+j) + ":1"
			wantStatuses(t, c.path+", no token", []int{c.wrong, c.wrong, c.wrong}, ask(http.MethodGet, c.path, from, ""))
			wantStatuses(t, c.path+", a valid token", []int{c.mine, c.mine, c.mine}, ask(http.MethodGet, c.path, from, valid))
			wantStatuses(t, c.path+", not valid", []int{c.wrong, c.wrong, 429}, ask(http.MethodGet, c.path, from, secret))
			wantStatuses(t, c.path+", elsewhere", []int{429},
				ask(http.MethodGet, "/user/self/pastes", from, token.Generate().Reveal()))
			wantStatuses(t, c.path+", still without", []int{c.wrong}, ask(http.MethodGet, c.path, from, ""))
		}
	}
	wantStatuses(t, "HEAD", []int{200, 200, 429}, ask(http.MethodHead, "/paste/open0000", "192.0.2.200:1", wrong))
}

// TestRejectedReadEndsProof checks that a token that was valid stops counting as its user with the first answer that
// finds it invalid.
func TestRejectedReadEndsProof(t *testing.T) {
	t.Parallel()
	s := newStore()
	l := newLimitedAPI(t, s, limit.Config{Rate: 1})
	secret := s.secret.Reveal()
	ask := func(path, from, secret string) func() *httptest.ResponseRecorder {
		return func() *httptest.ResponseRecorder { return l.ask(http.MethodGet, path, from, secret) }
	}
	wantStatuses(t, "it is valid", []int{200}, ask("/user/self/pastes", "192.0.2.1:1", secret))
	s.secret = token.Generate()
	wantStatuses(t, "its own budget", []int{200}, ask("/paste/open0000", "192.0.2.1:1", secret))
	wantStatuses(t, "that of its address", []int{200, 429}, ask("/data/language?name=Go", "192.0.2.2:1", secret))
	wantStatuses(t, "all of it", []int{429}, ask("/data/language?name=Go", "192.0.2.2:1", ""))
}

// TestFailedSignInsAtOnce checks that concurrent failures count even beyond the limit. Otherwise a client with many
// connections could fail on all of them each time that one more failure is allowed.
func TestFailedSignInsAtOnce(t *testing.T) {
	t.Parallel()
	const atOnce = 10
	s := newStore()
	var arrivals sync.WaitGroup
	arrivals.Add(atOnce)
	s.onLookup = func() {
		arrivals.Done()
		arrivals.Wait()
	}
	l := newLimitedAPI(t, s, limit.Config{FailedSignIns: 2})
	var requests sync.WaitGroup
	for range atOnce {
		requests.Go(func() { l.ask(http.MethodGet, "/user/self/pastes", "192.0.2.1:1", token.Generate().Reveal()) })
	}
	requests.Wait()
	s.onLookup = nil
	wrong := func() *httptest.ResponseRecorder {
		return l.ask(http.MethodGet, "/user/self/pastes", "192.0.2.1:1", token.Generate().Reveal())
	}
	l.pass((atOnce - 2) * 30 * time.Second)
	wantStatuses(t, "as long as the others take", []int{429}, wrong)
	l.pass(30 * time.Second)
	wantStatuses(t, "then one more", []int{401, 429}, wrong)
}

// TestTokenIsProvenForAWhile checks that a token stops counting as its user some time after it was last verified.
func TestTokenIsProvenForAWhile(t *testing.T) {
	t.Parallel()
	s := newStore()
	l := newLimitedAPI(t, s, limit.Config{Rate: 1})
	public := func(from, secret string) func() *httptest.ResponseRecorder {
		return func() *httptest.ResponseRecorder {
			return l.ask(http.MethodGet, "/data/language?name=Go", from, secret)
		}
	}
	secret := s.secret.Reveal()
	if answer := l.ask(http.MethodGet, "/user/self/pastes", "192.0.2.1:1", secret); answer.Code != 200 {
		t.Fatalf("got %d, want 200", answer.Code)
	}
	wantStatuses(t, "the token's budget", []int{200, 429}, public("192.0.2.1:1", secret))
	l.pass(10 * time.Minute)
	wantStatuses(t, "the address", []int{200, 429}, public("192.0.2.1:1", ""))
	wantStatuses(t, "a token that nobody has looked at for long", []int{429}, public("192.0.2.1:1", secret))
}
