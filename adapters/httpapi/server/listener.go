package server

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/gluepot/gluepot/adapters/httpapi/limit"
)

// listener bounds the number of open connections: further ones wait in the kernel. Connections beyond the limit of one address are
// closed at once.
//
// netutil.LimitListener would hide CloseWrite, which net/http needs to deliver an answer before it resets a connection.
type listener struct {
	*net.TCPListener

	server *Server // whose limits count

	mu     sync.Mutex
	freed  sync.Cond // a connection or the listener was closed
	closed bool
	open   int
	of     map[netip.Addr]int // open, by address
	warned time.Time
}

// Accept implements net.Listener, for one caller at a time.
func (l *listener) Accept() (net.Conn, error) {
	l.mu.Lock()
	for most := l.server.cfg.MaxConnections; most > 0 && l.open >= most && !l.closed; {
		l.freed.Wait()
	}
	l.mu.Unlock()
	for {
		accepted, err := l.AcceptTCP()
		if err != nil {
			return nil, err
		}
		address, _ := accepted.RemoteAddr().(*net.TCPAddr) // as every connection of TCP has
		client := limit.Network(address.AddrPort().Addr())
		if l.add(client, l.server.handler.TrustsProxy(address.AddrPort().Addr().Unmap())) {
			return &connection{TCPConn: accepted, closed: sync.OnceFunc(func() { l.remove(client) })}, nil
		}
		_ = accepted.Close()
	}
}

// Close implements net.Listener.
func (l *listener) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.freed.Broadcast()
	return l.TCPListener.Close()
}

func (l *listener) add(client netip.Addr, exempt bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if most := l.server.cfg.MaxClientConnections; most > 0 && l.of[client] >= most && !exempt {
		if now := time.Now(); now.Sub(l.warned) >= time.Minute {
			l.warned = now
			l.server.log.Warn("closing connections: an address has as many as one may have",
				zap.Stringer("client", client), zap.Int("limit", most))
		}
		return false
	}
	l.open++
	l.of[client]++
	return true
}

func (l *listener) remove(client netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	if l.of[client]--; l.of[client] == 0 {
		delete(l.of, client)
	}
	l.freed.Signal()
}

// count returns the number of open connections.
func (l *listener) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open
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
