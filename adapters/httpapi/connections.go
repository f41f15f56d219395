package httpapi

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
)

// connections are those that a server has accepted and not yet closed, with a limit to their number.
//
// net/http keeps such a list too, but neither limits it nor says who keeps whom waiting, and its Shutdown drops
// requests that have arrived and were not yet read.
type connections struct {
	limit int // 0: none
	log   *zap.Logger

	mu     sync.Mutex
	open   []*connection
	warned time.Time     // when the limit was last written about
	closed int           // because of the limit, since then
	empty  chan struct{} // closed as soon as none is open; nil while nobody waits for that

	cuttingOff atomic.Bool
}

// add takes a connection in. When there are as many as may be, the one that has kept the server waiting longest is
// closed in its favour, so that nobody is kept out by those who only hold connections. When none keeps it
// waiting, add closes the new one and returns nil.
func (s *connections) add(accepted *net.TCPConn) *connection {
	c := &connection{TCPConn: accepted, all: s}
	c.waiting.Store(sinceBegan())
	s.mu.Lock()
	var victim *connection
	if s.limit > 0 && len(s.open) >= s.limit {
		if victim = s.longestWaiting(); victim == nil {
			s.warn()
			s.mu.Unlock()
			_ = accepted.Close()
			return nil
		}
		s.warn()
		s.removeLocked(victim)
	}
	c.index = len(s.open)
	s.open = append(s.open, c)
	s.mu.Unlock()
	if victim != nil {
		_ = victim.TCPConn.Close()
	}
	return c
}

// makeRoom closes the connection that has kept the server waiting longest, if one does.
func (s *connections) makeRoom() bool {
	s.mu.Lock()
	victim := s.longestWaiting()
	if victim != nil {
		s.warn()
		s.removeLocked(victim)
	}
	s.mu.Unlock()
	if victim == nil {
		return false
	}
	_ = victim.TCPConn.Close()
	return true
}

// longestWaiting looks at every connection, which costs a few microseconds for a thousand of them: only
// a new connection beyond the limit pays that, and no request has to keep a list in order.
func (s *connections) longestWaiting() *connection {
	var found *connection
	oldest := midway + sinceBegan() - int64(stalling)
	for _, c := range s.open {
		if since := c.waiting.Load(); since != 0 && since < oldest {
			found, oldest = c, since
		}
	}
	return found
}

// warn counts a connection that the limit has cost, and writes about it once a minute at most.
func (s *connections) warn() {
	s.closed++
	if now := time.Now(); now.Sub(s.warned) >= time.Minute {
		s.log.Warn("closing connections: there are as many as may be", zap.Int("open", len(s.open)), zap.Int("closed", s.closed))
		s.warned, s.closed = now, 0
	}
}

func (s *connections) remove(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeLocked(c)
}

func (s *connections) removeLocked(c *connection) {
	if c.index < 0 {
		return
	}
	last := len(s.open) - 1
	s.open[c.index] = s.open[last]
	s.open[c.index].index = c.index
	s.open[last] = nil
	s.open, c.index = s.open[:last], -1
	if last == 0 && s.empty != nil {
		close(s.empty)
		s.empty = nil
	}
}

// whenEmpty returns a channel that is closed as soon as no connection is open. Nothing may be added any more.
func (s *connections) whenEmpty() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) == 0 {
		empty := make(chan struct{})
		close(empty)
		return empty
	}
	if s.empty == nil { // otherwise somebody waits already
		s.empty = make(chan struct{})
	}
	return s.empty
}

// dismiss lets those go that have sent nothing for a while. It ends reading rather than the connection: a request that
// the kernel has accepted by then is still read, and answered.
func (s *connections) dismiss(silent time.Duration) {
	before := sinceBegan() - int64(silent)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.open {
		if since := c.waiting.Load(); since != 0 && since <= before {
			_ = c.CloseRead()
		}
	}
}

// cutOff closes all that are left and returns how many those were.
func (s *connections) cutOff() int {
	s.cuttingOff.Store(true)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.open {
		_ = c.TCPConn.Close()
	}
	return len(s.open)
}
