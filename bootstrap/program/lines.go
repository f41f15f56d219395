package program

import (
	"io"
	"sync"
	"time"
)

const (
	// lineBacklog is how many bytes of lines may wait. Further lines are dropped.
	lineBacklog = 1 << 20
	// lineBatch is how many bytes are written at once; fewer bytes wait until lineInterval has passed.
	lineBatch    = 128 << 10
	lineInterval = 100 * time.Millisecond
	// lineCloseTime is how long Close waits.
	lineCloseTime = time.Second
)

// lineWriter writes lines in the background to a writer that may block, such as an unread pipe. When the backlog is
// full it drops lines, and later writes how many.
//
// zapcore.BufferedWriteSyncer blocks in Write, and zerolog's diode.Writer in Close; both lose lines while a disk is
// full.
type lineWriter struct {
	out    io.Writer
	notice func(dropped int64) []byte // the line about dropped lines

	mu      sync.Mutex
	backlog []byte
	dropped int64

	due     *time.Timer   // started by the first line of a backlog
	full    chan struct{} // buffered; gets a value when the backlog reaches lineBatch
	closing chan struct{}
	givenUp chan struct{} // closed lineCloseTime after Close
	done    chan struct{} // closed when run has returned
}

func newLineWriter(out io.Writer, notice func(dropped int64) []byte) *lineWriter {
	w := &lineWriter{
		out: out, notice: notice, due: time.NewTimer(lineInterval), full: make(chan struct{}, 1),
		closing: make(chan struct{}), givenUp: make(chan struct{}), done: make(chan struct{}),
	}
	go w.run()
	return w
}

// Write implements io.Writer: line is one line. It never blocks or fails, even after Close.
func (w *lineWriter) Write(line []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := len(w.backlog)
	if before+len(line) > lineBacklog {
		w.dropped++
		return len(line), nil
	}
	w.backlog = append(w.backlog, line...)
	if before == 0 {
		w.due.Reset(lineInterval)
	}
	if before < lineBatch && len(w.backlog) >= lineBatch {
		select {
		case w.full <- struct{}{}:
		default:
		}
	}
	return len(line), nil
}

// Close writes the remaining lines, for at most lineCloseTime. It is called once.
func (w *lineWriter) Close() {
	close(w.closing)
	time.AfterFunc(lineCloseTime, func() { close(w.givenUp) })
	select {
	case <-w.done:
	case <-w.givenUp:
	}
}

func (w *lineWriter) run() {
	defer close(w.done)
	var lines []byte
	for open := true; open; {
		select {
		case <-w.due.C:
		case <-w.full:
		case <-w.closing:
			open = false
		}
		var dropped int64
		w.mu.Lock()
		lines, w.backlog = w.backlog, lines[:0]
		dropped, w.dropped = w.dropped, 0
		w.mu.Unlock()
		if dropped > 0 {
			lines = append(lines, w.notice(dropped)...)
		}
		w.write(lines)
	}
}

// write retries failed writes, as to a full disk, until Close gives up: so lines stay complete.
func (w *lineWriter) write(lines []byte) {
	for len(lines) > 0 {
		n, err := w.out.Write(lines)
		if lines = lines[n:]; err == nil {
			continue
		}
		select {
		case <-time.After(lineInterval):
		case <-w.givenUp:
			return
		}
	}
}
