package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// connection is one that the server has accepted. It embeds the TCP connection for what net/http looks for in it.
type connection struct {
	*net.TCPConn

	all   *connections
	index int // in all.open; -1 once it is closed

	// waiting is since when the server has been waiting for the client, in nanoseconds after the program began; 0
	// while it is the other way round. When the client has a request to finish or an answer to take, and not
	// only the right to ask, midway is added: such a connection is not closed before one that is idle.
	waiting atomic.Int64
	last    atomic.Bool // its last answer is on its way; whatever else was sent is to be read and dropped
	secure  bool        // what is read and written is TLS; lines are counted above it
	lines   int         // that were read since the last request was complete; only whoever reads uses it

	giveUp context.CancelFunc // ends the request that is being answered; nil where none can be ended; all.mu guards it
}

const midway = 1 << 62

// stalling is how long a client that is midway may keep the server waiting before its connection may be closed for
// another one. Every piece of an answer and every body waits a moment, whoever reads or sends it.
const stalling = time.Second

// began makes times into numbers that only go forward.
var began = time.Now()

// sinceBegan is never 0.
func sinceBegan() int64 { return int64(time.Since(began)) | 1 }

// steady is a clock that nobody sets: it shows the time of when the program began, and what has passed since.
func steady() time.Time { return steadyAt(began, time.Now()) }

func steadyAt(began, now time.Time) time.Time { return began.Add(now.Sub(began)) }

// stateChanged is what net/http calls as a connection gets a request and has answered it.
func stateChanged(accepted net.Conn, state http.ConnState) {
	c := carrierOf(accepted)
	if c == nil {
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

// Read implements net.Conn.
func (c *connection) Read(p []byte) (int, error) {
	if c.secure { // what is read are not the lines
		return c.TCPConn.Read(p)
	}
	if c.onlyWatches(p) {
		return 0, nil
	}
	if err := c.headerTooLong(); err != nil {
		return 0, err
	}
	n, err := c.TCPConn.Read(p)
	c.countLines(p[:n])
	return n, err
}

// onlyWatches reports whether a read is the one by which net/http would notice that the client hangs up: of a single byte, while
// its request is answered. Without a crowd nobody wants to know (decision 0030), and it takes a system call and wakes two threads.
// When it brings nothing and no error, net/http goes on without.
func (c *connection) onlyWatches(p []byte) bool {
	return len(p) == 1 && c.waiting.Load() == 0 && !c.all.crowded()
}

// headerTooLong returns an error when a request has too many lines. One that is not the network's makes net/http answer 400. What
// the last piece brought is not held against a request: its body may be in it, or the next request. That net/http reads on shows
// that all before was header.
func (c *connection) headerTooLong() error {
	if c.lines <= maxHeaderLines {
		return nil
	}
	c.last.Store(true)
	return errManyLines
}

func (c *connection) countLines(p []byte) {
	if since := c.waiting.Load(); since != 0 && since < midway { // otherwise it is no header
		c.lines += bytes.Count(p, newline)
	}
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

// Close implements net.Conn. Closing while there is something to read resets the connection, and the client may never see
// its last answer: it may go on sending for a moment.
func (c *connection) Close() error {
	if c.last.Load() && !c.all.cuttingOff.Load() && c.CloseWrite() == nil {
		c.waiting.Store(sinceBegan())
		_ = c.SetReadDeadline(time.Now().Add(c.all.lingering))
		_, _ = io.Copy(io.Discard, c.TCPConn)
	}
	c.all.remove(c)
	return c.TCPConn.Close()
}
