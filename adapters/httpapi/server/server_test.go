package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gluepot/gluepot/domain/fault"
)

// patience bounds each wait of a test.
const patience = 2 * time.Minute

// handler answers "/" at once, "/held" when it is released, and "/long" with more than the kernel buffers.
type handler struct {
	draining atomic.Bool
	waiting  chan struct{} // receives one for each request that is held
	release  chan struct{}
	proxies  []netip.Addr
}

const longAnswer = 16 << 20

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.draining.Load() {
		w.Header().Set("Connection", "close")
	}
	switch r.URL.Path {
	case "/held":
		h.waiting <- struct{}{}
		<-h.release
	case "/long":
		_, _ = io.WriteString(w, strings.Repeat("x", longAnswer))
	}
	_, _ = io.WriteString(w, "answer")
}

func (h *handler) StartDraining() { h.draining.Store(true) }

func (h *handler) TrustsProxy(address netip.Addr) bool {
	return slices.Contains(h.proxies, address)
}

// serve serves a handler on a free port.
func serve(t *testing.T, change func(*Config), proxies ...netip.Addr) (*Server, *handler, *observer.ObservedLogs) {
	t.Helper()
	cfg := DefaultConfig()
	cfg.Addr, cfg.DrainDelay = "127.0.0.1:0", 0
	if change != nil {
		change(&cfg)
	}
	core, lines := observer.New(zap.DebugLevel)
	h := &handler{waiting: make(chan struct{}, 1000), release: make(chan struct{}), proxies: proxies}
	server := New(cfg, h, zap.New(core))
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.http.Close() })
	return server, h, lines
}

func stop(t *testing.T, server *Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := server.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// peer is a client that controls what it sends and when it reads.
type peer struct {
	net.Conn

	t      *testing.T
	reader *bufio.Reader
}

func dial(t *testing.T, s *Server) *peer {
	t.Helper()
	return dialFrom(t, s, "127.0.0.1")
}

// dialFrom connects from one of the addresses of this machine, 127.0.0.0/8.
func dialFrom(t *testing.T, s *Server, address string) *peer {
	t.Helper()
	dialer := net.Dialer{Timeout: patience, LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	c, err := dialer.DialContext(t.Context(), "tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return &peer{Conn: c, t: t, reader: bufio.NewReader(c)}
}

func (p *peer) write(text string) {
	p.t.Helper()
	if _, err := io.WriteString(p, text); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) send(path string, headers ...string) {
	p.t.Helper()
	lines := append([]string{"GET " + path + " HTTP/1.1", "Host: x"}, headers...)
	p.write(strings.Join(lines, "\r\n") + "\r\n\r\n")
}

// receive reads an answer with its body.
func (p *peer) receive() (*http.Response, string) {
	p.t.Helper()
	response, err := http.ReadResponse(p.reader, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	_ = response.Body.Close()
	return response, string(body)
}

func (p *peer) ask(path string) {
	p.t.Helper()
	p.send(path)
	if response, body := p.receive(); response.StatusCode != http.StatusOK {
		p.t.Errorf("%s: got %s %s, want 200", path, response.Status, body)
	}
}

// isClosed waits until the server has closed the connection.
func (p *peer) isClosed() {
	p.t.Helper()
	if n, err := p.reader.Read(make([]byte, 1)); n > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		p.t.Errorf("got %d bytes, error %v, want the connection to be closed", n, err)
	}
}

func TestDraining(t *testing.T) {
	t.Parallel()
	server, h, _ := serve(t, func(cfg *Config) { cfg.DrainDelay = time.Minute })
	inFlight, idle := dial(t, server), dial(t, server)
	idle.ask("/")
	inFlight.send("/held")
	<-h.waiting
	done := make(chan error, 1)
	ctx, endDelay := context.WithCancel(t.Context())
	go func() { done <- server.Stop(ctx) }()
	fresh := dial(t, server) // within the delay, connections are accepted and told to close
	for closes := false; !closes; {
		fresh.send("/")
		response, _ := fresh.receive()
		closes = response.Close
	}
	fresh.isClosed()
	select {
	case err := <-done:
		t.Errorf("got a stop before the end of the delay (%v), want it after", err)
	default:
	}
	close(h.release)
	if response, _ := inFlight.receive(); response.StatusCode != http.StatusOK {
		t.Errorf("got %s, want 200 for what was asked before", response.Status)
	}
	endDelay()
	idle.isClosed()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if c, err := net.Dial("tcp", server.Addr().String()); err == nil {
		_ = c.Close()
		t.Error("got a connection after the stop, want none")
	}
}

// TestStopAnswersWhatIsInFlight checks that a stop waits for the requests in flight, and no longer.
func TestStopAnswersWhatIsInFlight(t *testing.T) {
	t.Parallel()
	server, h, lines := serve(t, nil)
	p := dial(t, server)
	p.send("/held")
	<-h.waiting
	done := make(chan struct{})
	go func() {
		defer close(done)
		stop(t, server)
	}()
	for c, err := net.Dial("tcp", server.Addr().String()); err == nil; c, err = net.Dial("tcp", server.Addr().String()) {
		_ = c.Close() // until it refuses
		time.Sleep(time.Millisecond)
	}
	close(h.release)
	if response, _ := p.receive(); response.StatusCode != http.StatusOK {
		t.Errorf("got %s, want 200", response.Status)
	}
	<-done
	if lines.FilterLevelExact(zap.WarnLevel).Len() > 0 {
		t.Errorf("got the log %v, want no warning", lines.All())
	}
}

func TestStopCutsOffSlowReaders(t *testing.T) {
	t.Parallel()
	server, _, lines := serve(t, func(cfg *Config) { cfg.DrainTimeout = time.Second })
	slow := dial(t, server)
	slow.send("/long")
	if _, err := slow.reader.ReadString('\n'); err != nil { // the answer has begun
		t.Fatal(err)
	}
	stop(t, server)
	warnings := lines.FilterLevelExact(zap.WarnLevel).FilterField(zap.Int("connections", 1))
	if warnings.Len() != 1 {
		t.Errorf("got the log %v, want one warning about 1 connection", lines.All())
	}
}

// TestStopAtTheConnectionLimit checks that a stop ends in time while another connection waits for a free slot.
func TestStopAtTheConnectionLimit(t *testing.T) {
	t.Parallel()
	for what, limit := range map[string]time.Duration{"/": time.Minute, "/held": time.Second} { // how long it may drain
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			server, h, _ := serve(t, func(cfg *Config) { cfg.MaxConnections, cfg.DrainTimeout = 1, limit })
			defer close(h.release)
			p := dial(t, server)
			if p.send(what); what == "/held" {
				<-h.waiting
			} else {
				p.receive()
			}
			dial(t, server)
			done := make(chan struct{})
			go func() {
				defer close(done)
				stop(t, server)
			}()
			select {
			case <-done:
			case <-time.After(patience / 4):
				t.Error("got no end of the stop, want it at the end of the drain timeout at the latest")
			}
		})
	}
}

func TestStopBeforeStart(t *testing.T) {
	t.Parallel()
	stop(t, New(DefaultConfig(), new(handler), zap.NewNop()))
}

// TestStopWithoutTime checks that a stop without time closes the socket at once, and that this is not a failure.
func TestStopWithoutTime(t *testing.T) {
	t.Parallel()
	server, _, _ := serve(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := server.Stop(ctx); err != nil {
		t.Error(err)
	}
	select {
	case err := <-server.Failed():
		t.Error(err)
	case <-time.After(100 * time.Millisecond):
	}
}

func TestAddressInUse(t *testing.T) {
	t.Parallel()
	first, _, _ := serve(t, nil)
	cfg := DefaultConfig()
	cfg.Addr = first.Addr().String()
	if err := New(cfg, new(handler), zap.NewNop()).Start(t.Context()); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v, want fault.Unavailable", err)
	}
}

// TestConnectionsOfAnAddress checks that the limit holds for an address, and not for trusted proxies.
func TestConnectionsOfAnAddress(t *testing.T) {
	t.Parallel()
	proxy := netip.MustParseAddr("127.0.0.3")
	server, _, lines := serve(t, func(cfg *Config) { cfg.MaxClientConnections = 2 }, proxy)
	first, second := dial(t, server), dial(t, server)
	first.ask("/")
	second.ask("/")
	for range 3 {
		dial(t, server).isClosed()
	}
	dialFrom(t, server, "127.0.0.2").ask("/")
	for range 5 {
		dialFrom(t, server, "127.0.0.3").ask("/")
	}
	first.ask("/")
	if lines.FilterLevelExact(zap.WarnLevel).Len() != 1 {
		t.Errorf("got the log %v, want one warning", lines.All())
	}
	_ = first.Close()
	for deadline := time.Now().Add(patience); len(server.listener.slots) > 7+1; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("got a connection that is still counted, want none of those that are closed")
		}
	}
	dial(t, server).ask("/")
}

// TestPlacesOfAnAddress checks that a client at its limit can use the slot of its last connection at once.
func TestPlacesOfAnAddress(t *testing.T) {
	t.Parallel()
	server, _, _ := serve(t, func(cfg *Config) { cfg.MaxConnections, cfg.MaxClientConnections = 1, 1 })
	l := &listener{server: server, slots: make(chan struct{}, 1), open: make(map[netip.Addr]int)}
	client := netip.MustParseAddr("192.0.2.1")
	for i := range 100_000 {
		l.slots <- struct{}{}
		if !l.add(client, false) {
			t.Fatalf("connection %d: got it refused, want the place of the one before", i)
		}
		go l.remove(client)
	}
}

// TestHalfRequests checks that incomplete requests of one address do not block other clients, and time out.
func TestHalfRequests(t *testing.T) {
	t.Parallel()
	const half = 50
	server, _, _ := serve(t, func(cfg *Config) {
		cfg.MaxConnections, cfg.MaxClientConnections, cfg.ReadTimeout = half+1, half, time.Second
	})
	var slow []*peer
	for range half {
		p := dial(t, server)
		p.write("GET / HTTP/1.1\r\nHost: x\r\n")
		slow = append(slow, p)
	}
	for range 3 {
		p := dialFrom(t, server, "127.0.0.2")
		p.ask("/")
		_ = p.Close()
	}
	for _, p := range slow {
		if response, err := http.ReadResponse(p.reader, nil); err == nil && response.StatusCode != http.StatusRequestTimeout {
			t.Errorf("got %s for half a request, want the connection to be closed", response.Status)
		}
	}
}

// TestConnectionLimit checks that connections beyond the limit wait until one is closed.
func TestConnectionLimit(t *testing.T) {
	t.Parallel()
	server, _, _ := serve(t, func(cfg *Config) { cfg.MaxConnections = 2 })
	first, second, third := dial(t, server), dial(t, server), dial(t, server)
	first.ask("/")
	second.ask("/")
	third.send("/")
	_ = third.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
	if _, err := third.reader.Peek(1); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v, want no answer yet", err)
	}
	_ = first.Close()
	_ = third.SetReadDeadline(time.Now().Add(patience))
	if response, _ := third.receive(); response.StatusCode != http.StatusOK {
		t.Errorf("got %s, want 200", response.Status)
	}
}

// TestHeaderLimits checks that the limits do not depend on how TCP splits the headers.
func TestHeaderLimits(t *testing.T) {
	t.Parallel()
	server, _, _ := serve(t, nil)
	for header, status := range map[string]int{
		"Accept: " + strings.Repeat("a/b,", 4000):          http.StatusOK,
		"Accept: " + strings.Repeat("a/b,", 6000):          http.StatusRequestHeaderFieldsTooLarge,
		strings.TrimSpace(strings.Repeat("A:\r\n", 1300)):  http.StatusOK,
		strings.TrimSpace(strings.Repeat("A:\r\n", 10000)): http.StatusRequestHeaderFieldsTooLarge,
	} {
		for pieces := range 2 {
			p := dial(t, server)
			text := "GET / HTTP/1.1\r\nHost: x\r\n" + header + "\r\n\r\n"
			go func() {
				if pieces > 0 {
					_, _ = io.WriteString(p, text[:len(text)/2])
					time.Sleep(20 * time.Millisecond)
					text = text[len(text)/2:]
				}
				_, _ = io.WriteString(p, text)
			}()
			if response, err := http.ReadResponse(p.reader, nil); err != nil || response.StatusCode != status {
				t.Errorf("%d bytes %.10q...: got %v, error %v, want %d", len(header), header, response, err, status)
			}
		}
	}

	// Many small requests at once are not many headers.
	p := dial(t, server)
	const requests = 2000
	go func() { _, _ = io.WriteString(p, strings.Repeat("GET / HTTP/1.1\nHost:\n\n", requests)) }()
	for range requests {
		if response, _ := p.receive(); response.StatusCode != http.StatusOK {
			t.Fatalf("got %s, want 200", response.Status)
		}
	}
}

func TestGeneralOptions(t *testing.T) {
	t.Parallel()
	server, _, _ := serve(t, nil)
	p := dial(t, server)
	p.write("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n")
	if response, body := p.receive(); response.StatusCode != http.StatusOK || body != "answer" {
		t.Errorf("got %s %q, want what the handler answers", response.Status, body)
	}
}

func TestValidateNamesEveryWrongValue(t *testing.T) {
	t.Parallel()
	if err := DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
	err := Config{Addr: "x", TLSKeyFile: "k", DrainDelay: -1, MaxConnections: -1, MaxClientConnections: -2}.Validate()
	for _, part := range []string{
		`HTTP_ADDR is "x"`, "DRAIN_DELAY is -1ns", "READ_TIMEOUT is 0s", "WRITE_TIMEOUT is 0s", "IDLE_TIMEOUT is 0s",
		"DRAIN_TIMEOUT is 0s",
		"set both or neither", "MAX_CONNECTIONS is -1", "MAX_CLIENT_CONNECTIONS is -2",
	} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("got %v, want %s to be named in it", fmt.Sprint(err), part)
		}
	}
}
