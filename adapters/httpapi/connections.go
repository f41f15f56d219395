package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
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

// connection is one of them. It embeds the TCP connection for what net/http looks for in it.
type connection struct {
	*net.TCPConn

	all   *connections
	index int // in all.open; -1 once it is closed

	// waiting is since when the server has been waiting for the client, in nanoseconds after the program began; 0
	// while it is the other way round. When the client has a request to finish or an answer to take, and not
	// only the right to ask, midway is added: such a connection is not closed before one that is idle.
	waiting atomic.Int64
	last    atomic.Bool // its last answer is on its way; whatever else was sent is to be read and dropped
	lines   int         // that were read since the last request was complete; only whoever reads uses it
}

const midway = 1 << 62

// stalling is how long a client that is midway may keep the server waiting before its connection may be closed for
// another one. Every piece of an answer and every body waits a moment, whoever reads or sends it.
const stalling = time.Second

// began makes times into numbers that only go forward.
var began = time.Now()

// sinceBegan is never 0.
func sinceBegan() int64 { return int64(time.Since(began)) | 1 }

// stateChanged is what net/http calls as a connection gets a request and has answered it.
func stateChanged(accepted net.Conn, state http.ConnState) {
	c, ok := accepted.(*connection)
	if !ok {
		return
	}
	switch state {
	case http.StateActive:
		c.waiting.Store(0)
		c.lines = 0
	case http.StateIdle:
		c.waiting.Store(sinceBegan())
	}
}

// waitMidway is for a request whose body has yet to arrive.
func (c *connection) waitMidway() { c.waiting.Store(sinceBegan() + midway) }

// maxHeaderLines bounds what net/http makes of 64 KiB of the shortest headers: a map that takes twenty times as much.
const maxHeaderLines = 1024

var errManyLines = fmt.Errorf("more than %d lines of headers", maxHeaderLines)

// Read implements net.Conn. An error that is not the network's makes net/http answer 400. What the last piece brought
// is not held against a request: its body may be in it, or the next request. That net/http reads on shows that all before was header.
func (c *connection) Read(p []byte) (int, error) {
	if c.lines > maxHeaderLines {
		c.last.Store(true)
		return 0, errManyLines
	}
	n, err := c.TCPConn.Read(p)
	if since := c.waiting.Load(); since != 0 && since < midway { // otherwise it is no header
		c.lines += bytes.Count(p[:n], newline)
	}
	return n, err
}

var newline = []byte("\n")

// Write implements net.Conn. Who does not read keeps the server waiting.
func (c *connection) Write(p []byte) (int, error) {
	before := c.waiting.Load()
	if before == 0 {
		c.waitMidway()
	}
	n, err := c.TCPConn.Write(p)
	c.waiting.Store(before)
	return n, err
}

// lingering is how long a client may go on sending after its last answer. Closing while there is something to
// read resets the connection, and the client may never see the answer.
const lingering = 250 * time.Millisecond

// Close implements net.Conn.
func (c *connection) Close() error {
	if c.last.Load() && !c.all.cuttingOff.Load() && c.CloseWrite() == nil {
		c.waiting.Store(sinceBegan())
		_ = c.SetReadDeadline(time.Now().Add(lingering))
		_, _ = io.Copy(io.Discard, c.TCPConn)
	}
	c.all.remove(c)
	return c.TCPConn.Close()
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

// listener hands net/http connections that are counted, until it is told to finish.
type listener struct {
	*net.TCPListener

	connections *connections
	finishing   atomic.Bool
	sweepUntil  time.Time // zero until nothing new can have come any more; only Accept uses it
}

// settling is how long handshakes may take that had begun before new ones were refused.
const settling = 100 * time.Millisecond

// A queue under load is swept in far less than sweeping, in which no accept that finds one waits for sweepStep.
const (
	sweeping  = time.Second
	sweepStep = 10 * time.Millisecond
)

// errFinished is what ends http.Server.Serve without closing anything that was accepted.
var errFinished = errors.New("everything was accepted")

// finish makes Accept return everything that the kernel has established, and then errFinished.
func (l *listener) finish() {
	_ = refuseNew(l.TCPListener) // where that cannot be had, a few may be lost between the last accept and closing
	l.finishing.Store(true)
	_ = l.SetDeadline(time.Now().Add(settling))
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	for {
		if !l.sweepUntil.IsZero() {
			now := time.Now()
			if now.After(l.sweepUntil) {
				return nil, errFinished
			}
			_ = l.SetDeadline(now.Add(sweepStep))
		}
		accepted, err := l.AcceptTCP()
		if err == nil {
			if c := l.connections.add(accepted); c != nil {
				return c, nil
			}
			continue
		}
		if l.finishing.Load() && errors.Is(err, os.ErrDeadlineExceeded) {
			if !l.sweepUntil.IsZero() {
				return nil, errFinished
			}
			l.sweepUntil = time.Now().Add(sweeping) // a deadline that has passed hides what is in the queue
			continue
		}
		if !outOfFiles(err) || !l.connections.makeRoom() {
			return nil, err
		}
	}
}

// outOfFiles reports whether the process, or the machine, may not open any more of them.
func outOfFiles(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}
