package httpapi

import (
	"context"
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

	lingering time.Duration // how long a client may go on sending after its last answer

	count  atomic.Int32 // of open, for those who do not hold mu
	mu     sync.Mutex
	open   []*connection
	warned time.Time     // when the limit was last written about
	closed int           // because of the limit, since then
	empty  chan struct{} // closed as soon as none is open; nil while nobody waits for that

	cuttingOff atomic.Bool
}

// add takes a connection in. When there are as many as may be and none can make room, it closes the new one and
// returns nil. Only one goroutine may call it.
func (s *connections) add(accepted *net.TCPConn) *connection {
	if s.limit > 0 && int(s.count.Load()) >= s.limit && !s.makeRoom() {
		s.mu.Lock()
		s.warn()
		s.mu.Unlock()
		_ = accepted.Close()
		return nil
	}
	c := &connection{TCPConn: accepted, all: s}
	c.waiting.Store(sinceBegan())
	s.mu.Lock()
	defer s.mu.Unlock()
	c.index = len(s.open)
	s.open = append(s.open, c)
	s.count.Store(int32(len(s.open)))
	return c
}

// makeRoom closes the connection that is missed least, ends the request that it may have, and reports whether there
// was one. Nobody is kept out by those who only hold connections, or do not wait for their answers.
func (s *connections) makeRoom() bool {
	s.mu.Lock()
	spared := s.spare()
	if spared == nil {
		s.mu.Unlock()
		return false
	}
	s.warn()
	s.removeLocked(spared)
	if spared.giveUp != nil {
		spared.giveUp()
	}
	s.mu.Unlock()
	_ = spared.TCPConn.Close()
	return true
}

// spare returns a connection that is being worked for although its client has hung up, else the one that has kept the
// server waiting longest, or nil. It looks at every connection, which costs microseconds for a thousand of
// them, or a millisecond when all are being worked for: only a new connection beyond the limit pays
// that, and no request has to keep a list in order.
func (s *connections) spare() *connection {
	var longest *connection
	oldest := midway + sinceBegan() - int64(stalling)
	for _, c := range s.open {
		since := c.waiting.Load()
		if (since == 0 || since >= midway) && c.hungUp() { // of the others, net/http reads and notices it itself
			return c
		}
		if since != 0 && since < oldest {
			longest, oldest = c, since
		}
	}
	return longest
}

// crowded reports whether more than half of the connections that may be open are.
func (s *connections) crowded() bool { return s.limit > 0 && 2*int(s.count.Load()) > s.limit }

// forRequest returns a context for a request of c which ends when the client hangs up, or c has to make room.
func (s *connections) forRequest(ctx context.Context, c *connection, timeout time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	s.mu.Lock()
	defer s.mu.Unlock()
	c.giveUp = cancel
	if c.index < 0 { // it had to make room before
		cancel()
	}
	return ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		c.giveUp = nil
		cancel()
	}
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
	s.count.Store(int32(last))
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
