package server

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/gluepot/gluepot/domain/paste"
)

// listener bounds the number of open connections. Further ones wait in the kernel. Those beyond the limit of one
// address are closed at once.
//
// netutil.LimitListener would hide CloseWrite, which net/http needs to deliver an answer before it resets a connection.
type listener struct {
	net.Listener

	server *Server       // has the limits
	slots  chan struct{} // one is taken by each open connection, and by the one that Accept waits for
	closed chan struct{} // closed by Close

	mu          sync.Mutex
	open        map[netip.Addr]int // open, by address
	lastWarning time.Time
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed: // or Stop would wait for Accept forever
		return nil, net.ErrClosed
	}
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			<-l.slots
			return nil, err
		}
		address, isTCP := conn.RemoteAddr().(*net.TCPAddr)
		var peer netip.Addr // of a Unix socket: none
		if isTCP {
			peer = address.AddrPort().Addr()
		}
		client := paste.ClientNetwork(peer)
		if l.add(client, !isTCP || l.server.handler.TrustsProxy(peer.Unmap())) {
			return &connection{pacedConn: pacedConn{Conn: conn}, closed: sync.OnceFunc(func() { l.remove(client) })}, nil
		}
		_ = conn.Close()
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
	if most := l.server.cfg.MaxClientConnections; most > 0 && l.open[client] >= most && !exempt {
		if now := time.Now(); now.Sub(l.lastWarning) >= time.Minute {
			l.lastWarning = now
			l.server.log.Warn("closing connections: an address has reached its limit",
				zap.Stringer("client", client), zap.Int("limit", most))
		}
		return false
	}
	l.open[client]++
	return true
}

func (l *listener) remove(client netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[client]--; l.open[client] == 0 {
		delete(l.open, client)
	}
	<-l.slots // last, so that the next connection of this client is counted without this one
}

// connection tells its listener when it is closed.
type connection struct {
	pacedConn

	closed func()
}

func (c *connection) Close() error {
	c.closed()
	return c.Conn.Close()
}
