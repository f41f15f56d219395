package httpapi

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
)

func stop(t *testing.T, server *Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := server.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// Whoever has a connection gets an answer, those that the kernel has established and nobody has accepted included.
func TestStopLosesNothing(t *testing.T) {
	t.Parallel()
	for _, kept := range []bool{true, false} {
		t.Run(fmt.Sprintf("kept=%t", kept), func(t *testing.T) {
			t.Parallel()
			var answered, lost atomic.Int64
			for range 3 {
				server, _ := serveStore(t, newStore(), func(cfg *Config) { cfg.DrainTimeout = patience })
				server.silence = patience // however slow this machine is
				var clients sync.WaitGroup
				for range 16 {
					clients.Go(func() {
						for {
							c, err := net.DialTimeout("tcp", server.Addr().String(), patience)
							if err != nil {
								return // refused: it has stopped
							}
							_ = c.SetDeadline(time.Now().Add(patience))
							reader := bufio.NewReader(c)
							for again := true; again; {
								_, err := io.WriteString(c, "GET /user/epoxy HTTP/1.1\r\nHost: x\r\n\r\n")
								var response *http.Response
								if err == nil {
									response, err = http.ReadResponse(reader, nil)
								}
								if err == nil {
									_, err = io.Copy(io.Discard, response.Body)
									_ = response.Body.Close()
								}
								if err != nil {
									lost.Add(1)
									break
								}
								answered.Add(1)
								again = kept && !response.Close
							}
							_ = c.Close()
						}
					})
				}
				for target := answered.Load() + 500; answered.Load() < target; {
					time.Sleep(time.Millisecond)
				}
				stop(t, server)
				clients.Wait()
			}
			t.Logf("%d answered, %d lost", answered.Load(), lost.Load())
			if lost.Load() > 0 {
				t.Errorf("got %d requests lost, want none", lost.Load())
			}
		})
	}
}

func TestDraining(t *testing.T) {
	t.Parallel()
	s := newStore()
	server, _ := serveStore(t, s, func(cfg *Config) { cfg.DrainDelay = time.Minute })
	kept, idle, pipelining, old, sending := dial(t, server), dial(t, server), dial(t, server), dial(t, server), dial(t, server)
	for _, p := range []*peer{kept, idle, pipelining} {
		p.ask("/user/epoxy")
	}
	s.held = make(chan struct{})
	kept.send("/user/epoxy")
	s.hasRequest(t) // it is in flight
	stopped := make(chan struct{})
	ctx, endDelay := context.WithCancel(t.Context())
	go func() {
		defer close(stopped)
		_ = server.Stop(ctx)
	}()
	fresh := dial(t, server)
	for status := 0; status != http.StatusServiceUnavailable; {
		fresh.send("/readyz")
		response, _ := fresh.receive()
		if status = response.StatusCode; response.Close {
			fresh = dial(t, server)
		}
	}
	close(s.held)
	if response, _ := kept.receive(); response.StatusCode != http.StatusOK || response.Close {
		t.Errorf("a request from before: got %s, close: %t, want 200 on a connection that is kept", response.Status, response.Close)
	}
	kept.send("/user/epoxy")
	if _, err := io.WriteString(pipelining, strings.Repeat("GET /user/epoxy HTTP/1.1\r\nHost: x\r\n\r\n", 500)); err != nil {
		t.Error(err)
	}
	if _, err := io.WriteString(old, "GET /user/epoxy HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"); err != nil {
		t.Error(err)
	}
	if _, err := io.WriteString(sending, "POST /user/epoxy HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nx"); err != nil {
		t.Error(err)
	}
	for what, p := range map[string]*peer{"kept": kept, "pipelining": pipelining, "HTTP/1.0": old, "a body": sending} {
		response, body := p.receive()
		if !response.Close || body == "" {
			t.Errorf("%s: got %s, close: %t, want a body and the connection to be closed", what, response.Status, response.Close)
		}
		p.isClosed()
	}
	select {
	case <-stopped:
		t.Error("got a stop before the end of the delay, want it after")
	default:
	}
	endDelay()
	idle.isClosed()
	<-stopped
}

func TestStopCutsOffSlowReaders(t *testing.T) {
	t.Parallel()
	s := newStore()
	s.ids = tooLong
	server, lines := serveStore(t, s, func(cfg *Config) { cfg.DrainTimeout = time.Second })
	slow := dialSlow(t, server)
	slow.send("/user/self/pastes", "Authorization: "+s.secret.Reveal())
	if _, err := slow.reader.ReadString('\n'); err != nil { // the answer has begun
		t.Fatal(err)
	}
	stop(t, server)
	cutOff := lines.FilterLevelExact(zap.WarnLevel).FilterField(zap.Int("connections", 1))
	if cutOff.Len() != 1 {
		t.Errorf("got the log %v, want one warning about 1 connection", lines.All())
	}
}

func TestStopBeforeStart(t *testing.T) {
	t.Parallel()
	api, _ := newTestAPI(t, newStore(), DefaultConfig())
	stop(t, NewServer(DefaultConfig(), api, zap.NewNop()))
}

// Whoever stops waits for the requests in flight, and no longer.
func TestStopTwice(t *testing.T) {
	t.Parallel()
	s := newStore()
	server, _ := serveStore(t, s, nil)
	p := dial(t, server)
	s.held = make(chan struct{})
	p.send("/user/epoxy")
	s.hasRequest(t)
	stopped := make(chan error, 2)
	for range cap(stopped) {
		go func() { stopped <- server.Stop(t.Context()) }()
	}
	<-server.served
	time.Sleep(server.silence) // both wait for the connection
	close(s.held)
	if response, _ := p.receive(); response.StatusCode != http.StatusOK {
		t.Errorf("got %s, want 200", response.Status)
	}
	_ = p.Close()
	for range cap(stopped) {
		select {
		case err := <-stopped:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(server.cfg.DrainTimeout / 2):
			t.Error("got a wait for a connection that is closed, want none")
		}
	}
	stop(t, server)
}

// A stop that has no time closes the socket at once, which is no failure of serving.
func TestStopWithoutTime(t *testing.T) {
	t.Parallel()
	server, _ := serveStore(t, newStore(), nil)
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

func TestGeneralOptions(t *testing.T) {
	t.Parallel()
	server, lines := serveStore(t, newStore(), nil)
	p := dial(t, server)
	if _, err := io.WriteString(p, "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if response, body := p.receive(); response.StatusCode != http.StatusNotFound || !strings.Contains(body, `"status":404`) {
		t.Errorf("got %s %s, want 404", response.Status, body)
	}
	if lines.FilterMessage("request").FilterField(zap.String("method", "OPTIONS")).Len() != 1 {
		t.Errorf("got the log %v, want one line with the method OPTIONS", lines.All())
	}
}
