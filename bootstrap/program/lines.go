package program

import (
	"io"
	"sync"
	"time"
)

const (
	// lineBacklog bounds the bytes of the log that were accepted and have not been written.
	lineBacklog = 1 << 20
	// lineBatch is how many bytes are worth a system call of their own; fewer wait for lineInterval.
	lineBatch    = 128 << 10
	lineInterval = 100 * time.Millisecond
	// lineCloseTime is how long the end of the program waits for a reader of the log.
	lineCloseTime = time.Second
)

// lineWriter passes lines on to a writer that may block, such as a pipe that nobody reads, and never waits
// for it. Lines that find the backlog full are dropped; once there is room again, a line that says how many
// stands in their place. Lines stay whole and in order.
//
// It stays because neither of the well-known writers does this. zapcore.BufferedWriteSyncer flushes inside Write, under the
// lock that every other Write needs, so that all of them wait for a pipe that nobody reads; and it never writes again after
// one error, such as a disk that was full for a second. The diode.Writer of zerolog drops, but makes a system call for
// each line, breaks lines off at a short write, and waits in Close for as long as the pipe is not read.
//
// A Write is one line. It can be called at any time, also after Close.
type lineWriter struct {
	out    io.Writer
	notice func(dropped int) []byte // the line in place of those dropped

	mu      sync.Mutex
	pending []byte // accepted, and not yet taken by run
	writing int    // bytes that run has taken
	dropped int    // lines that should have followed pending
	spare   []byte // an empty buffer, of run's

	some, enough  chan struct{} // pending is not empty; it is worth a system call
	closing       chan struct{}
	closed        chan struct{} // Close waits no longer
	ended         chan struct{} // run has returned
	beginsClosing sync.Once
}

// newLineWriter returns a writer before out, which has a goroutine until it is closed.
func newLineWriter(out io.Writer, notice func(dropped int) []byte) *lineWriter {
	w := &lineWriter{
		out: out, notice: notice,
		some: make(chan struct{}, 1), enough: make(chan struct{}, 1),
		closing: make(chan struct{}), closed: make(chan struct{}), ended: make(chan struct{}),
	}
	go w.run()
	return w
}

// Write implements io.Writer. It always succeeds at once.
func (w *lineWriter) Write(line []byte) (int, error) {
	w.mu.Lock()
	before := len(w.pending)
	// After one that was dropped, others are too: the notice stands where all of them are missing.
	if w.dropped > 0 || before+w.writing+len(line) > lineBacklog {
		w.dropped++
	} else {
		w.pending = append(w.pending, line...)
	}
	after := len(w.pending)
	w.mu.Unlock()
	if before == 0 {
		wake(w.some)
	}
	if before < lineBatch && after >= lineBatch {
		wake(w.enough)
	}
	return len(line), nil
}

// Close writes what was accepted, as far as the reader takes it within lineCloseTime. What blocks then is
// left to itself: nothing can end a system call from outside.
func (w *lineWriter) Close() {
	w.beginsClosing.Do(func() {
		close(w.closing)
		time.AfterFunc(lineCloseTime, func() { close(w.closed) })
	})
	select {
	case <-w.ended:
	case <-w.closed:
	}
}

func (w *lineWriter) run() {
	defer close(w.ended)
	for open := true; open; {
		select {
		case <-w.some:
		case <-w.closing:
		}
		select { // lines that come soon after share a system call
		case <-w.enough:
		case <-time.After(lineInterval):
		case <-w.closing:
			open = false
		}
		for batch := w.take(); len(batch) > 0; batch = w.take() {
			if !w.writeAll(batch) {
				return
			}
			if cap(batch) <= 2*lineBatch { // the memory of a storm is not kept
				w.spare = batch[:0]
			}
		}
	}
}

// writeAll writes a batch. An error, such as that of a full disk or of a pipe whose other end is closed, is
// waited out like a reader who does not read, so that a line which was begun is completed. It returns
// false when it has given up, because nobody waits for it any more.
func (w *lineWriter) writeAll(batch []byte) bool {
	for len(batch) > 0 {
		n, err := w.out.Write(batch)
		batch = batch[n:]
		if err == nil {
			continue
		}
		select {
		case <-time.After(lineInterval):
		case <-w.closed:
			return false
		}
	}
	return true
}

// take returns what is pending, and before what comes next the notice of what is missing between the two.
func (w *lineWriter) take() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writing = 0
	if len(w.pending) == 0 && w.dropped == 0 {
		return nil
	}
	batch := w.pending
	w.pending, w.spare = w.spare, nil
	if w.dropped > 0 {
		batch = append(batch, w.notice(w.dropped)...)
		w.dropped = 0
	}
	w.writing = len(batch)
	return batch
}

// wake makes sure that a receiver of a channel with room for one finds something.
func wake(channel chan<- struct{}) {
	select {
	case channel <- struct{}{}:
	default:
	}
}
