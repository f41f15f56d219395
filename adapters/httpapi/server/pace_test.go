package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
)

// pipes is a listener whose connections are pipes.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return &pacedConn{Conn: conn}, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error {
	close(p.closed)
	return nil
}

func (pipes) Addr() net.Addr { return new(net.TCPAddr) }

// plain makes a Handler of a function.
type plain struct{ http.HandlerFunc }

func (plain) StartDraining()              {}
func (plain) TrustsProxy(netip.Addr) bool { return false }

// talk lets a client talk to a server with the default timeouts, in a synctest bubble.
func talk(t *testing.T, handler http.HandlerFunc, client func(t *testing.T, conn net.Conn, clients *sync.WaitGroup)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server := New(DefaultConfig(), plain{handler}, zap.NewNop()).http
		listener := pipes{make(chan net.Conn), make(chan struct{})}
		go func() { _ = server.Serve(listener) }()
		ours, theirs := net.Pipe()
		listener.conns <- theirs
		var clients sync.WaitGroup
		client(t, ours, &clients)
		_ = ours.Close()
		_ = server.Close()
		clients.Wait()
		time.Sleep(time.Second) // for which net/http keeps a connection that it closes
	})
}

// slowly calls move with the length of each piece of so many bytes, at a rate in bytes a second, until it fails.
func slowly(bytes, rate int, move func(n int) error) (total int, err error) {
	piece := max(rate/10, 1)
	for total < bytes && err == nil {
		n := min(piece, bytes-total)
		if err = move(n); err == nil {
			total += n
			time.Sleep(time.Duration(n) * time.Second / time.Duration(rate))
		}
	}
	return total, err
}

// TestSlowBodies sends bodies at several rates.
func TestSlowBodies(t *testing.T) {
	t.Parallel()
	const length = 2 << 20
	for name, c := range map[string]struct {
		rate    int
		stop    int // bytes after which nothing comes
		arrives bool
		within  time.Duration // the end
	}{
		"100 KB a second":            {100_000, length, true, 25 * time.Second},
		"a little above the minimum": {MinRate * 11 / 10, length, true, 2 * time.Minute},
		"a little below the minimum": {MinRate * 9 / 10, length, false, 11 * time.Second},
		"a byte a second":            {1, length, false, 11 * time.Second},
		"nothing":                    {1, 0, false, 11 * time.Second},
		"nothing after a megabyte":   {1 << 20, 1 << 20, false, 12 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			handle := func(w http.ResponseWriter, r *http.Request) {
				n, err := io.Copy(io.Discard, r.Body)
				_, _ = fmt.Fprint(w, n, errors.Is(err, os.ErrDeadlineExceeded))
			}
			talk(t, handle, func(t *testing.T, conn net.Conn, clients *sync.WaitGroup) {
				start := time.Now()
				clients.Go(func() {
					_, _ = fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", length)
					_, _ = slowly(c.stop, c.rate, func(n int) error {
						_, err := io.WriteString(conn, strings.Repeat("x", n))
						return err
					})
				})
				response, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err != nil {
					t.Fatal(err)
				}
				body, _ := io.ReadAll(response.Body)
				want := fmt.Sprint(length, false)
				took, late := time.Since(start), strings.HasSuffix(string(body), "true")
				if took > c.within || (string(body) == want) != c.arrives || !c.arrives && !late {
					t.Errorf("got %q after %v, want arrived: %v, within %v", body, took, c.arrives, c.within)
				}
			})
		})
	}
}

// TestSlowReaders reads answers at several rates, and one of a slow handler.
func TestSlowReaders(t *testing.T) {
	t.Parallel()
	const length = 12 << 20
	for name, c := range map[string]struct {
		rate    int
		stop    int           // bytes after which nothing is read
		pause   time.Duration // of the handler, half-way
		arrives bool
		within  time.Duration
	}{
		"100 KB a second":            {100_000, length, 0, true, 130 * time.Second},
		"a little above the minimum": {MinRate * 11 / 10, length, 0, true, 12 * time.Minute},
		"a slow handler":             {1 << 20, length, 10 * time.Minute, true, 11 * time.Minute},
		"a little below the minimum": {MinRate * 9 / 10, length, 0, false, 35 * time.Second},
		"a byte a second":            {1, length, 0, false, 35 * time.Second},
		"nothing":                    {1, 0, 0, false, 31 * time.Second},
		"nothing after a megabyte":   {1 << 20, 1 << 20, 0, false, 32 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var err error
			var done atomic.Bool
			handle := func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, strings.Repeat("x", length/2))
				time.Sleep(c.pause)
				_, err = io.WriteString(w, strings.Repeat("x", length/2))
				done.Store(true)
			}
			talk(t, handle, func(t *testing.T, conn net.Conn, clients *sync.WaitGroup) {
				start := time.Now()
				_, _ = io.WriteString(conn, "GET / HTTP/1.0\r\nHost: x\r\n\r\n")
				clients.Go(func() {
					_, _ = slowly(c.stop, c.rate, func(n int) error {
						_, err := io.ReadFull(conn, make([]byte, n))
						return err
					})
					if c.arrives {
						_, _ = io.Copy(io.Discard, conn)
					}
				})
				for !done.Load() {
					time.Sleep(10 * time.Millisecond)
				}
				if took := time.Since(start); (err == nil) != c.arrives || took > c.within {
					t.Errorf("got error %v after %v, want arrived: %v, within %v", err, took, c.arrives, c.within)
				}
			})
		})
	}
}
