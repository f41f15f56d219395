package server

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/gluepot/gluepot/domain/paste"
)

// listener bounds the number of open connections: further ones wait in the kernel. Connections beyond the limit of one
// address are closed at once.
//
// netutil.LimitListener would hide CloseWrite, which net/http needs to deliver an answer before it resets a connection.
type listener struct {
	net.Listener

	server *Server       // has the limits
	room   chan struct{} // holds one for each open connection, and one for the connection that Accept waits for
	closed chan struct{} // closed with the listener

	mu     sync.Mutex
	of     map[netip.Addr]int // open, by address
	warned time.Time
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case l.room <- struct{}{}:
	case <-l.closed: // a server that stops waits for Accept to return
		return nil, net.ErrClosed
	}
	for {
		accepted, err := l.Listener.Accept()
		if err != nil {
			<-l.room
			return nil, err
		}
		address, isTCP := accepted.RemoteAddr().(*net.TCPAddr)
		var peer netip.Addr // of a Unix socket: none
		if isTCP {
			peer = address.AddrPort().Addr()
		}
		client := paste.ClientNetwork(peer)
		if l.add(client, !isTCP || l.server.handler.TrustsProxy(peer.Unmap())) {
			return &connection{paced: paced{Conn: accepted}, closed: sync.OnceFunc(func() { l.remove(client) })}, nil
		}
		_ = accepted.Close()
	}
}

// Close is called once.
func (l *listener) Close() error {
	close(l.closed)
	return l.Listener.Close()
}

func (l *listener) add(client netip.Addr, exempt bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if most := l.server.cfg.MaxClientConnections; most > 0 && l.of[client] >= most && !exempt {
		if now := time.Now(); now.Sub(l.warned) >= time.Minute {
			l.warned = now
			l.server.log.Warn("closing connections: an address has reached its limit",
				zap.Stringer("client", client), zap.Int("limit", most))
		}
		return false
	}
	l.of[client]++
	return true
}

func (l *listener) remove(client netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of[client]--; l.of[client] == 0 {
		delete(l.of, client)
	}
	<-l.room // last, so that a connection which has waited for the place finds its client's count without this one
}

// connection tells its listener when it is closed.
type connection struct {
	paced

	closed func()
}

func (c *connection) Close() error {
	c.closed()
	return c.Conn.Close()
}
