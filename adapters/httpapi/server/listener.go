package server

import (
	"context"
	"math"
	"net"
	"net/netip"
	"sync"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/semaphore"

	"github.com/gluepot/gluepot/adapters/httpapi/limit"
)

// listener bounds the number of open connections: further ones wait in the kernel. Connections beyond the limit of one address are
// closed at once.
//
// netutil.LimitListener would hide CloseWrite, which net/http needs to deliver an answer before it resets a connection.
type listener struct {
	*net.TCPListener

	slots  *semaphore.Weighted
	closed context.Context //nolint:containedctx // it ends with the listener
	close  context.CancelFunc

	limit  int                   // per address; 0: none
	exempt func(netip.Addr) bool // trusted proxies
	log    *zap.Logger

	mu     sync.Mutex
	of     map[netip.Addr]int // open, by address
	warned time.Time
}

func newListener(opened *net.TCPListener, cfg Config, exempt func(netip.Addr) bool, log *zap.Logger) *listener {
	most := int64(cfg.MaxConnections)
	if most == 0 {
		most = math.MaxInt64
	}
	l := &listener{
		TCPListener: opened, slots: semaphore.NewWeighted(most), limit: cfg.MaxClientConnections, exempt: exempt,
		of: make(map[netip.Addr]int), log: log,
	}
	l.closed, l.close = context.WithCancel(context.Background())
	return l
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	if err := l.slots.Acquire(l.closed, 1); err != nil {
		return nil, net.ErrClosed
	}
	for {
		accepted, err := l.AcceptTCP()
		if err != nil {
			l.slots.Release(1)
			return nil, err
		}
		client := limit.Network(addressOf(accepted))
		if l.add(client) {
			return &connection{TCPConn: accepted, closed: sync.OnceFunc(func() { l.remove(client) })}, nil
		}
		_ = accepted.Close()
	}
}

// Close implements net.Listener.
func (l *listener) Close() error {
	l.close()
	return l.TCPListener.Close()
}

func addressOf(c net.Conn) netip.Addr {
	address, _ := netip.ParseAddrPort(c.RemoteAddr().String())
	return address.Addr().Unmap()
}

func (l *listener) add(client netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.limit > 0 && l.of[client] >= l.limit && !l.exempt(client) {
		if now := time.Now(); now.Sub(l.warned) >= time.Minute {
			l.warned = now
			l.log.Warn("closing connections: an address has as many as one may have", zap.Stringer("client", client), zap.Int("limit", l.limit))
		}
		return false
	}
	l.of[client]++
	return true
}

func (l *listener) remove(client netip.Addr) {
	l.slots.Release(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of[client]--; l.of[client] == 0 {
		delete(l.of, client)
	}
}

// count returns the number of open connections.
func (l *listener) count() (open int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, many := range l.of {
		open += many
	}
	return open
}

// connection tells its listener when it is closed.
type connection struct {
	*net.TCPConn

	closed func()
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.closed()
	return c.TCPConn.Close()
}
