package httpapi

import (
	"io"
	"net/http"
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
		busy := slices.ContainsFunc(s.open, func(c *connection) bool { return c.waiting.Load() == 0 })
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
	second.isClosed()
	if lines.FilterLevelExact(zap.WarnLevel).Len() != 1 {
		t.Errorf("got the log %v, want one warning", lines.All())
	}

	// All at work: nobody is closed, and nobody let in.
	s.held = make(chan struct{})
	for _, p := range []*peer{first, third, silent} {
		p.send("/user/epoxy")
		<-s.waiting
	}
	fourth := dial(t, server)
	fourth.send("/user/epoxy")
	<-s.waiting
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
	<-s.waiting
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
