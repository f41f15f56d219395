package server

import (
	"net"
	"sync"
	"time"
)

// MinRate is how many bytes a second a body or an answer must make on the average of a timeout. A client that is
// slower, or stands still, is cut off.
const MinRate = 16 << 10

// paced is a connection whose deadlines count progress. A timeout of net/http's is the time for MinRate times as many
// bytes, and begins anew after them: so it cuts off who is too slow, but not who has much to send. Time counts for a
// write only while the client does not read.
type paced struct {
	net.Conn

	mu    sync.Mutex
	read  window // the whole of it counts, also while nothing is read
	write window
}

// window is the time for a part of what is sent.
type window struct {
	length time.Duration // 0: there is no deadline, or it has passed
	left   time.Duration // of the length, for writes
	bytes  int           // that have moved
}

func newWindow(deadline time.Time) window {
	left := time.Until(deadline)
	if left <= 0 {
		return window{}
	}
	return window{length: max(left, time.Second), left: left}
}

// move counts bytes, and reports whether the window begins anew.
func (w *window) move(bytes int) bool {
	w.bytes += bytes
	if w.length == 0 || w.bytes < w.size() {
		return false
	}
	w.bytes, w.left = 0, w.length
	return true
}

// size is how many bytes must move within the window.
func (w *window) size() int { return int(w.length.Seconds() * MinRate) }

// SetReadDeadline implements net.Conn.
func (p *paced) SetReadDeadline(deadline time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.read = newWindow(deadline)
	return p.Conn.SetReadDeadline(deadline)
}

// SetWriteDeadline implements net.Conn. It does not concern a write that has begun.
func (p *paced) SetWriteDeadline(deadline time.Time) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.write = newWindow(deadline); p.write.length > 0 {
		return nil // it begins with the next write
	}
	return p.Conn.SetWriteDeadline(deadline)
}

// SetDeadline implements net.Conn.
func (p *paced) SetDeadline(deadline time.Time) error {
	if err := p.SetReadDeadline(deadline); err != nil {
		return err
	}
	return p.SetWriteDeadline(deadline)
}

// Read implements net.Conn.
func (p *paced) Read(b []byte) (int, error) {
	n, err := p.Conn.Read(b)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.read.move(n) && err == nil {
		err = p.Conn.SetReadDeadline(time.Now().Add(p.read.length))
	}
	return n, err
}

// Write implements net.Conn.
func (p *paced) Write(b []byte) (written int, err error) {
	for {
		n, err := p.writePart(b[written:])
		written += n
		if err != nil || written == len(b) {
			return written, err
		}
	}
}

// writePart writes what the window has left.
func (p *paced) writePart(b []byte) (int, error) {
	p.mu.Lock()
	window := p.write
	p.mu.Unlock()
	began := time.Now()
	if window.length > 0 {
		b = b[:min(len(b), window.size()-window.bytes)]
		if err := p.Conn.SetWriteDeadline(began.Add(window.left)); err != nil {
			return 0, err
		}
	}
	n, err := p.Conn.Write(b)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.write.left -= time.Since(began)
	p.write.move(n)
	return n, err
}

// CloseWrite tells the client that nothing follows: net/http needs it to deliver an answer before it resets a
// connection.
func (p *paced) CloseWrite() error {
	if half, ok := p.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
