package server

import (
	"net"
	"sync"
	"time"
)

// MinRate is how many bytes a second of a body or an answer must move, on average over a timeout. Slower clients are
// cut off.
const MinRate = 16 << 10

// pacedConn is a connection whose deadlines count progress. Within a timeout of net/http, as many bytes must move as
// MinRate makes in that time; then the timeout starts again. So it cuts off slow clients, but not those that send much.
// For writes, only the time in which the client does not read counts.
type pacedConn struct {
	net.Conn

	mu    sync.Mutex
	read  window // all time counts, even while nothing is read
	write window
}

// window is the time in which a number of bytes must move.
type window struct {
	length    time.Duration // 0: no deadline, or one that has passed
	remaining time.Duration // of length, for writes
	bytes     int           // moved so far
}

func newWindow(deadline time.Time) window {
	remaining := time.Until(deadline)
	if remaining <= 0 {
		return window{}
	}
	return window{length: max(remaining, time.Second), remaining: remaining}
}

// move counts bytes that have moved, and reports whether the window starts again.
func (w *window) move(bytes int) bool {
	w.bytes += bytes
	if w.length == 0 || w.bytes < w.size() {
		return false
	}
	w.bytes, w.remaining = 0, w.length
	return true
}

// size is how many bytes must move within the window.
func (w *window) size() int { return int(w.length.Seconds() * MinRate) }

// SetReadDeadline implements net.Conn.
func (p *pacedConn) SetReadDeadline(deadline time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read = newWindow(deadline)
	return p.Conn.SetReadDeadline(deadline)
}

// SetWriteDeadline implements net.Conn. It does not affect a write in progress.
func (p *pacedConn) SetWriteDeadline(deadline time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.write = newWindow(deadline); p.write.length > 0 {
		return nil // it starts with the next write
	}
	return p.Conn.SetWriteDeadline(deadline)
}

// SetDeadline implements net.Conn.
func (p *pacedConn) SetDeadline(deadline time.Time) error {
	if err := p.SetReadDeadline(deadline); err != nil {
		return err
	}
	return p.SetWriteDeadline(deadline)
}

// Read implements net.Conn.
func (p *pacedConn) Read(b []byte) (int, error) {
	n, err := p.Conn.Read(b)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.read.move(n) && err == nil {
		err = p.Conn.SetReadDeadline(time.Now().Add(p.read.length))
	}
	return n, err
}

// Write implements net.Conn.
func (p *pacedConn) Write(b []byte) (written int, err error) {
	for {
		n, err := p.writePart(b[written:])
		written += n
		if err != nil || written == len(b) {
			return written, err
		}
	}
}

// writePart writes at most as many bytes as are missing in the window.
func (p *pacedConn) writePart(b []byte) (int, error) {
	p.mu.Lock()
	window := p.write
	p.mu.Unlock()
	start := time.Now()
	if window.length > 0 {
		b = b[:min(len(b), window.size()-window.bytes)]
		if err := p.Conn.SetWriteDeadline(start.Add(window.remaining)); err != nil {
			return 0, err
		}
	}
	n, err := p.Conn.Write(b)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.write.remaining -= time.Since(start)
	p.write.move(n)
	return n, err
}

// CloseWrite closes the writing side. net/http needs it to deliver an answer before it resets a connection.
func (p *pacedConn) CloseWrite() error {
	if half, ok := p.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
