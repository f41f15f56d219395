package server

import (
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/gluepot/gluepot/adapters/httpapi/limit"
)

// connections bounds the number of open connections: beyond it, no further ones are accepted. Connections beyond the limit of one address
// are closed at once.
//
// netutil.LimitListener would hide CloseWrite, which net/http needs to deliver an answer before it resets a connection.
type connections struct {
	most, perClient int                   // 0: no limit
	exempt          func(netip.Addr) bool // trusted proxies
	log             *zap.Logger

	mu       sync.Mutex
	freed    sync.Cond // waits for fewer open connections, or for the end
	open     int
	of       map[netip.Addr]int // open, by address
	stopping bool
	warned   time.Time
}

func newConnections(cfg Config, exempt func(netip.Addr) bool, log *zap.Logger) *connections {
	c := &connections{
		most: cfg.MaxConnections, perClient: cfg.MaxClientConnections, exempt: exempt, log: log, of: make(map[netip.Addr]int),
	}
	c.freed.L = &c.mu
	return c
}

// track is the server's ConnState. net/http accepts the next connection when it has returned for the one before.
func (c *connections) track(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		if !c.add(clientOf(conn)) {
			_ = conn.Close()
		}
	case http.StateClosed, http.StateHijacked:
		c.remove(clientOf(conn))
	case http.StateActive, http.StateIdle:
	}
}

func clientOf(conn net.Conn) netip.Addr {
	address, _ := netip.ParseAddrPort(conn.RemoteAddr().String())
	return limit.Network(address.Addr())
}

// add waits until there may be one more connection, and reports whether the client may have it. Connections that it may not have count,
// too, until they are removed.
func (c *connections) add(client netip.Addr) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.most > 0 && c.open >= c.most && !c.stopping {
		c.freed.Wait()
	}
	c.open++
	c.of[client]++
	if c.perClient == 0 || c.of[client] <= c.perClient || c.exempt(client) {
		return true
	}
	if now := time.Now(); now.Sub(c.warned) >= time.Minute {
		c.warned = now
		c.log.Warn("closing connections: an address has as many as one may have", zap.Stringer("client", client),
			zap.Int("limit", c.perClient))
	}
	return false
}

func (c *connections) remove(client netip.Addr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
	if c.of[client]--; c.of[client] == 0 {
		delete(c.of, client)
	}
	c.freed.Signal()
}

// stop ends the wait for fewer connections, so that the server can stop.
func (c *connections) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopping = true
	c.freed.Signal()
}

// count returns the number of open connections.
func (c *connections) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open
}
