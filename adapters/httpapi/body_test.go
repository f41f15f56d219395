package httpapi

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gluepot/gluepot/adapters/httpapi/server"
	"github.com/gluepot/gluepot/adapters/httpapi/wire"
)

// servePastes serves an API over an empty store on a free port.
func servePastes(t *testing.T, maxBody int, change func(*server.Config)) *server.Server {
	t.Helper()
	cfg := DefaultConfig()
	cfg.PasteMaxBody = maxBody
	api, _ := newPasteAPI(t, cfg, nil)
	return serve(t, api, change)
}

func (p *peer) write(text string) {
	p.t.Helper()
	if _, err := io.WriteString(p, text); err != nil {
		p.t.Fatal(err)
	}
}

func announce(length int) string {
	return fmt.Sprintf("POST /raw HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", length)
}

// wantStatus reads an answer, and checks its status and whether it closes the connection.
func (p *peer) wantStatus(status int, closes bool) {
	p.t.Helper()
	if response, body := p.receive(); response.StatusCode != status || response.Close != closes {
		p.t.Errorf("got %s, close: %t, %.200s, want %d and %t", response.Status, response.Close, body, status, closes)
	}
}

func TestBodiesOverTheLimit(t *testing.T) {
	t.Parallel()
	const limit = 100_000
	server := servePastes(t, limit, nil)
	chunked := func(length int) string {
		return fmt.Sprintf("POST /raw HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n",
			length, strings.Repeat("x", length))
	}
	reused := dial(t, server)
	for _, length := range []int{1, 16<<10 - 1, 16 << 10, 16<<10 + 1, limit - 1, limit} {
		reused.write(announce(length) + strings.Repeat("x", length))
		reused.wantStatus(http.StatusOK, false)
		reused.write(chunked(length))
		reused.wantStatus(http.StatusOK, false)
	}
	tooLong := dial(t, server)
	tooLong.write(announce(limit + 1)) // without the body
	tooLong.wantStatus(http.StatusRequestEntityTooLarge, true)
	tooLong.isClosed()
	endless := dial(t, server)
	go func() { // until the server closes the connection
		_, _ = io.WriteString(endless, "POST /raw HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
		for {
			if _, err := io.WriteString(endless, "400\r\n"+strings.Repeat("x", 0x400)+"\r\n"); err != nil {
				return
			}
		}
	}()
	endless.wantStatus(http.StatusRequestEntityTooLarge, true)
	expecting := dial(t, server)
	expecting.write(strings.Replace(announce(limit+1), "\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n", 1))
	expecting.wantStatus(http.StatusRequestEntityTooLarge, true)
	reused.write(announce(1) + "x")
	reused.wantStatus(http.StatusOK, false)
}

// TestRefusedBodyIsDropped checks that a client that sends everything before it reads gets the answer, not a reset.
func TestRefusedBodyIsDropped(t *testing.T) {
	t.Parallel()
	server := servePastes(t, 1000, nil)
	p := dial(t, server)
	p.write(announce(16<<20) + strings.Repeat("x", 16<<20)) // more than the kernel holds
	p.wantStatus(http.StatusRequestEntityTooLarge, true)
	p.isClosed()
}

func TestBodiesThatDoNotArrive(t *testing.T) {
	t.Parallel()
	patient := servePastes(t, 2<<20, nil)
	malformed, short := dial(t, patient), dial(t, patient)
	malformed.write("POST /raw HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nno number\r\n")
	malformed.wantStatus(http.StatusBadRequest, true)
	malformed.isClosed()
	short.write(announce(10) + "x")
	if tcp, ok := short.Conn.(interface{ CloseWrite() error }); !ok || tcp.CloseWrite() != nil {
		t.Fatal("got a connection that is not TCP, want one")
	}
	short.wantStatus(http.StatusBadRequest, true)

	// The timeout is for headers, too.
	hasty := servePastes(t, 2<<20, func(cfg *server.Config) { cfg.ReadTimeout = 3 * time.Second })
	slow, long := dial(t, hasty), dial(t, hasty)
	slow.write(announce(10) + "x")
	long.write(announce(2<<20) + strings.Repeat("x", 1<<20))
	slow.wantStatus(http.StatusRequestTimeout, true)
	slow.isClosed()
	long.wantStatus(http.StatusRequestTimeout, true)
}

// TestMemory checks that bodies and answers share the memory, that requests beyond it are refused after two seconds,
// and that all of it is released.
func TestMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg := DefaultConfig()
		cfg.PasteMaxBody, cfg.MaxMemory = 100_000, memoryFactor*100_000
		api, secret := newPasteAPI(t, cfg, nil)
		long := strings.Repeat("\x00", cfg.PasteMaxBody) // JSON makes six times as much of it
		paste := parsePaste(t, send(api, http.MethodPost, "/raw", long, "Authorization", secret, "Accept", mediaJSON))
		check := func(want int) {
			t.Helper()
			for method, target := range map[string]string{http.MethodPost: "/raw", http.MethodGet: "/paste/" + paste.ID} {
				start := time.Now()
				answer := send(api, method, target, map[string]any{http.MethodPost: long}[method])
				unavailable := answer.Code == http.StatusServiceUnavailable
				retry, waited := answer.Header().Get("Retry-After") != "", time.Since(start) == 2*time.Second
				if answer.Code != want || unavailable != retry || unavailable != waited {
					t.Errorf("%s %s: got %d after %v %.300s, want %d, and Retry-After after 2 s if it is 503", method, target,
						answer.Code, time.Since(start), answer.Body, want)
				}
			}
			if answer := send(api, http.MethodPost, "/raw", "short"); answer.Code != http.StatusOK {
				t.Errorf("a short one: got %d %s, want 200", answer.Code, answer.Body)
			}
		}
		check(http.StatusOK)
		others := api.memory.Claim("192.0.2.77")
		others.Force(api.memory.Share())
		check(http.StatusOK) // others have half of it at most
		more := api.memory.Claim("192.0.2.78")
		more.Force(api.memory.Share())
		check(http.StatusServiceUnavailable)
		elsewhere := "http://" + strings.Repeat("x", 64<<10) + "/raw" // the link to the new paste is as long
		if answer := send(api, http.MethodPost, elsewhere, "short"); answer.Code != http.StatusOK {
			t.Errorf("a long link: got %d %.300s, want 200, since the paste is stored", answer.Code, answer.Body)
		}
		time.AfterFunc(time.Second, more.Release)
		answers := make(chan int)
		for range 2 {
			go func() { answers <- send(api, http.MethodPost, "/raw", long).Code }()
			go func() { answers <- send(api, http.MethodGet, "/paste/"+paste.ID, nil).Code }()
		}
		for range 4 {
			if status := <-answers; status != http.StatusOK {
				t.Errorf("a request that waits while memory becomes free: got %d, want 200", status)
			}
		}
		others.Release()
		check(http.StatusOK)
		wantAllMemory(t, api)
	})
}

// wantAllMemory checks that no memory is held, by claiming all of it.
func wantAllMemory(t *testing.T, api *API) {
	t.Helper()
	claim := api.memory.Claim("192.0.2.79")
	defer claim.Release()
	if err := claim.Work(t.Context(), int64(api.cfg.MaxMemory)); err != nil {
		t.Errorf("got %v, want nothing to be held", err)
	}
}

// TestBodiesThatWaitAreCounted sends bodies to an endpoint of another adapter whose answers lack memory: while such a
// request waits, its body counts.
func TestBodiesThatWaitAreCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const clients = 30
		var held atomic.Int64
		cfg := DefaultConfig()
		cfg.PasteMaxBody, cfg.MaxMemory = 100_000, memoryFactor*100_000
		cfg.Endpoints = []Endpoint{{Path: "/endpoint", Post: func(_ http.ResponseWriter, _ *http.Request, from Sender) {
			if from.Hold(500_000) != nil {
				held.Add(int64(len(from.Body)))
			}
		}}}
		api, _ := newPasteAPI(t, cfg, nil)
		other := api.memory.Claim("192.0.2.1") // as the requests
		other.Force(400_000)
		var sending sync.WaitGroup
		for range clients {
			sending.Go(func() {
				answer := send(api, http.MethodPost, "/endpoint", strings.Repeat("x", cfg.PasteMaxBody))
				if answer.Code != http.StatusServiceUnavailable {
					t.Errorf("got %d, want 503", answer.Code)
				}
			})
		}
		synctest.Wait()
		if most := api.memory.Share(); held.Load() == 0 || held.Load() > most {
			t.Errorf("got %d bytes of bodies that wait, want some and at most the %d of a client", held.Load(), most)
		}
		sending.Wait()
		other.Release()
		wantAllMemory(t, api)
	})
}

// TestLongLists requests a long list while its client's memory is in use, and gets it once enough is free.
func TestLongLists(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg := DefaultConfig()
		cfg.PasteMaxBody, cfg.MaxMemory = 100_000, memoryFactor*100_000
		s := newStore()
		s.ids = 50_000
		api, _ := newTestAPI(t, s, cfg)
		other := api.memory.Claim("192.0.2.1")
		other.Force(100_000) // the list would fit beside it, if its length were known
		list := func() (status, ids int) {
			answer := send(api, http.MethodGet, "/user/self/pastes", nil, "Authorization", s.secret.Reveal())
			return answer.Code, strings.Count(answer.Body.String(), `"`) / 2
		}
		if status, _ := list(); status != http.StatusServiceUnavailable {
			t.Errorf("got %d, want 503", status)
		}
		time.AfterFunc(time.Second, other.Release)
		var clients sync.WaitGroup
		for range 8 { // one after another, as only one fits
			clients.Go(func() {
				if status, ids := list(); status != http.StatusOK || ids != s.ids {
					t.Errorf("got %d and %d ids, want 200 and %d", status, ids, s.ids)
				}
			})
		}
		clients.Wait()
		wantAllMemory(t, api)
	})
}

func TestContentEncoding(t *testing.T) {
	t.Parallel()
	api, _ := newPasteAPI(t, DefaultConfig(), nil)
	for coding, want := range map[string]int{"": 200, "identity": 200, "IDENTITY": 200, "gzip": 415, "identity,gzip": 415,
		"x-identity": 415} {
		if answer := send(api, http.MethodPost, "/paste", simplePaste, "Content-Encoding", coding); answer.Code != want {
			t.Errorf("%q: got %d, want %d", coding, answer.Code, want)
		}
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/paste", strings.NewReader(simplePaste))
	r.Header["Content-Encoding"] = []string{"identity", "gzip"}
	answer := httptest.NewRecorder()
	if api.ServeHTTP(answer, r); answer.Code != http.StatusUnsupportedMediaType {
		t.Errorf("in two lines: got %d, want 415", answer.Code)
	}
}

// TestArraysOfManyElements checks that arrays whose elements take many times their length in memory are refused.
func TestArraysOfManyElements(t *testing.T) {
	t.Parallel()
	api, _ := newPasteAPI(t, DefaultConfig(), nil)
	for _, element := range []string{`{}`, `""`} {
		name := map[string]string{`{}`: "pasties", `""`: "tags"}[element]
		body := `{"` + name + `":[` + strings.Repeat(element+",", 600_000) + element + `]}`
		answer := send(api, http.MethodPost, "/paste", body)
		want := fmt.Sprintf("%s: there may be at most %d.", name, wire.MaxParts)
		if answer.Code != http.StatusBadRequest || !strings.Contains(answer.Body.String(), want) {
			t.Errorf("%s: got %d %s, want 400 and %q", name, answer.Code, answer.Body, want)
		}
	}
}
