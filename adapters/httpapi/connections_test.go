package httpapi

import (
	"bytes"
	"io"
	"net/http"
	"runtime"
	"slices"
	"testing"
	"time"

	"go.uber.org/zap"
)

// areIdle waits until the server knows what its clients have seen: that they are answered.
func (s *connections) areIdle(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		s.mu.Lock()
		busy := slices.ContainsFunc(s.open, func(c *connection) bool { // a client has its answer before the write of it returns
			since := c.waiting.Load()
			return since == 0 || since >= midway
		})
		s.mu.Unlock()
		if !busy {
			return
		}
	}
	t.Error("got connections that are not idle, want all to be")
}

// A client that reads what it is sent is not closed for another one, however long its answer.
func TestConnectionLimitSparesReaders(t *testing.T) {
	t.Parallel()
	s := newStore()
	s.ids = tooLong
	server, _ := serveStore(t, s, func(cfg *Config) { cfg.MaxConnections = 1 })
	reading := dial(t, server)
	reading.send("/user/self/pastes", "Authorization: "+s.secret.Reveal())
	response, err := http.ReadResponse(reading.reader, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		dial(t, server).isClosed()
	}
	n, err := io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	if err != nil || n != response.ContentLength {
		t.Errorf("got %d bytes, error %v, want %d", n, err, response.ContentLength)
	}
}

func TestConnectionLimit(t *testing.T) {
	t.Parallel()
	s := newStore()
	server, lines := serveStore(t, s, func(cfg *Config) { cfg.MaxConnections = 4 })
	first, second, third := dial(t, server), dial(t, server), dial(t, server)
	for _, p := range []*peer{first, second, third, first} { // the second is idle longest
		p.ask("/user/epoxy")
		server.connections.areIdle(t)
	}
	silent := dial(t, server)
	dial(t, server).ask("/healthz") // in favour of the second
	server.connections.areIdle(t)
	second.isClosed()
	if lines.FilterLevelExact(zap.WarnLevel).Len() != 1 {
		t.Errorf("got the log %v, want one warning", lines.All())
	}

	// All at work: nobody is closed, and nobody let in.
	s.held = make(chan struct{})
	for _, p := range []*peer{first, third, silent} {
		p.send("/user/epoxy")
		s.hasRequest(t)
	}
	fourth := dial(t, server)
	fourth.send("/user/epoxy")
	s.hasRequest(t)
	dial(t, server).isClosed()
	close(s.held)
	for _, p := range []*peer{first, third, silent, fourth} {
		if response, _ := p.receive(); response.StatusCode != http.StatusOK {
			t.Errorf("got %s, want 200", response.Status)
		}
	}
}

// Who sends no body, or does not read, gives way like one who is idle.
func TestConnectionLimitAndThoseMidway(t *testing.T) {
	t.Parallel()
	s := newStore()
	s.ids = tooLong
	server, _ := serveStore(t, s, func(cfg *Config) { cfg.MaxConnections = 1 })
	s.held = make(chan struct{})
	bodiless := dial(t, server)
	if _, err := io.WriteString(bodiless, "GET /user/epoxy HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	s.hasRequest(t)
	time.Sleep(stalling)
	deaf := dialSlow(t, server)
	bodiless.isClosed()
	close(s.held)
	deaf.send("/user/self/pastes", "Authorization: "+s.secret.Reveal())
	if _, err := deaf.reader.ReadString('\n'); err != nil { // the answer has begun
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); ; time.Sleep(stalling / 10) { // until the buffers are full, new ones are closed
		p := dial(t, server)
		_, _ = io.WriteString(p, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		_, err := http.ReadResponse(p.reader, nil)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("who does not read keeps everybody out: got %v, want an answer", err)
		}
		_ = p.Close()
	}
}

// eventually waits until something holds, which takes no longer than patience.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it never came that %s", what)
		}
	}
}

// knowsHungUp reports whether a connection is in the list whose client has hung up.
func (s *connections) knowsHungUp() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.open, (*connection).hungUp)
}

// Requests whose clients hang up, one after the other, cost neither those their connection who wait quietly for their
// next question, nor those who come.
func TestConnectionLimitAndThoseWhoHangUp(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("hanging up is noticed on Linux only")
	}
	t.Parallel()
	const limit, quiet, rounds = 8, 5, 50
	for what, sent := range map[string]struct{ header, more string }{
		"after the request":            {header: "\r\n"},
		"in the middle of its body":    {header: "Content-Length: 9\r\n\r\n", more: "half"},
		"in the middle of another one": {header: "\r\n", more: "GET"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newStore()
			server, lines := serveStore(t, s, func(cfg *Config) { cfg.MaxConnections = limit })
			waiting := make([]*peer, quiet)
			for i := range waiting {
				waiting[i] = dial(t, server)
				waiting[i].ask("/user/epoxy")
			}
			server.connections.areIdle(t)
			s.held = make(chan struct{})
			for range rounds {
				p := dial(t, server)
				if _, err := io.WriteString(p, "GET /user/epoxy HTTP/1.1\r\nHost: x\r\n"+sent.header); err != nil {
					t.Fatal(err)
				}
				s.hasRequest(t) // nobody waits for the others
				if _, err := io.WriteString(p, sent.more); err != nil {
					t.Fatal(err)
				}
				_ = p.Close()
				eventually(t, "the client has hung up, or its request was ended", func() bool {
					return server.connections.knowsHungUp() || int(server.connections.count.Load()) == quiet
				})
			}
			eventually(t, "no more requests are under way than there may be connections", func() bool {
				return s.ended.Load() >= rounds-(limit-quiet)
			})
			dial(t, server).ask("/healthz")
			close(s.held)
			for _, p := range waiting {
				p.ask("/user/epoxy")
			}
			if got := lines.FilterLevelExact(zap.ErrorLevel).Len(); got > 0 {
				t.Errorf("got %d errors in the log for those who hung up, want none", got)
			}
		})
	}
}

// A client is watched while its request is answered only if there is a crowd, and may send its next request meanwhile either way.
// Not parallel: the goroutines that watch are looked for in the whole process.
func TestWatchingClients(t *testing.T) { //nolint:paralleltest // see above
	for what, limit := range map[string]int{"no limit": 0, "room": 2, "a crowd": 1} {
		t.Run(what, func(t *testing.T) { //nolint:paralleltest // as above
			s := newStore()
			server, _ := serveStore(t, s, func(cfg *Config) { cfg.MaxConnections = limit })
			s.held = make(chan struct{})
			p := dial(t, server)
			p.send("/user/epoxy")
			s.hasRequest(t)
			eventually(t, "somebody watches if there is a crowd, and otherwise nobody", func() bool {
				stacks := make([]byte, 1<<20)
				stacks = stacks[:runtime.Stack(stacks, true)]
				return bytes.Contains(stacks, []byte("net/http.(*connReader).backgroundRead(")) == (what == "a crowd")
			})
			p.send("/nothing")
			close(s.held)
			for _, want := range []int{http.StatusOK, http.StatusNotFound} {
				if response, _ := p.receive(); response.StatusCode != want {
					t.Errorf("got %s, want %d", response.Status, want)
				}
			}
			p.ask("/healthz")
		})
	}
}

// While few connections are open, a lookup is left alone when its client hangs up: ending it could cost a connection
// to the database.
func TestHangingUpWithRoom(t *testing.T) {
	t.Parallel()
	s := newStore()
	server, lines := serveStore(t, s, func(cfg *Config) { cfg.MaxConnections = 8 })
	s.held = make(chan struct{})
	p := dial(t, server)
	p.send("/user/epoxy")
	s.hasRequest(t)
	_ = p.Close()
	eventually(t, "the client has hung up", server.connections.knowsHungUp)
	close(s.held)
	eventually(t, "the request is logged", func() bool { return lines.FilterMessage("request").Len() == 1 })
	if got := s.ended.Load(); got != 0 {
		t.Errorf("got %d lookups ended, want none", got)
	}
}
