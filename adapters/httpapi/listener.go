package httpapi

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// listener hands net/http connections that are counted, until it is told to finish.
type listener struct {
	*net.TCPListener

	connections *connections
	tls         *tls.Config // nil: plain HTTP
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
			c := l.connections.add(accepted)
			switch {
			case c == nil:
			case l.tls == nil:
				return c, nil
			default:
				c.secure = true
				return &secureConnection{tls.Server(c, l.tls), c}, nil
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
