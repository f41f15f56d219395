package program

import (
	"bufio"
	"bytes"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// lineBacklog is how many lines of the log wait for a reader, about a megabyte. Further ones are dropped.
	lineBacklog = 4096
	// lineBatch is how many bytes are worth a system call of their own; fewer wait for lineInterval.
	lineBatch    = 128 << 10
	lineInterval = 100 * time.Millisecond
	// lineCloseTime is how long the end of the program waits for a reader of the log.
	lineCloseTime = time.Second
)

// lineWriter passes lines on to a writer that may block, such as a pipe that is not read, and never waits for it. Lines that find the
// backlog full are dropped, and a line says how many.
//
// Neither zapcore.BufferedWriteSyncer nor the diode.Writer of zerolog does this: the one blocks in Write, the other in Close, and both
// lose lines when a disk is full for a second.
type lineWriter struct {
	out     io.Writer
	notice  func(dropped int64) []byte // the line about those dropped
	lines   chan []byte
	dropped atomic.Int64
	closing chan struct{}
	given   chan struct{} // closed when Close waits no longer
	ended   chan struct{} // closed when run has returned
	close   func()
}

// newLineWriter returns a writer before out, which has a goroutine until it is closed.
func newLineWriter(out io.Writer, notice func(dropped int64) []byte) *lineWriter {
	w := &lineWriter{
		out: out, notice: notice, lines: make(chan []byte, lineBacklog),
		closing: make(chan struct{}), given: make(chan struct{}), ended: make(chan struct{}),
	}
	w.close = sync.OnceFunc(func() {
		close(w.closing)
		time.AfterFunc(lineCloseTime, func() { close(w.given) })
	})
	go w.run()
	return w
}

// Write implements io.Writer: line is one line. It always succeeds at once, also after Close.
func (w *lineWriter) Write(line []byte) (int, error) {
	select {
	case w.lines <- bytes.Clone(line):
	default:
		w.dropped.Add(1)
	}
	return len(line), nil
}

// Close writes what was accepted, as far as the reader takes it within lineCloseTime.
func (w *lineWriter) Close() {
	w.close()
	select {
	case <-w.ended:
	case <-w.given:
	}
}

func (w *lineWriter) run() {
	defer close(w.ended)
	batch := bufio.NewWriterSize(retrying{w}, lineBatch)
	write := func(line []byte) {
		_, _ = batch.Write(line) // it fails only when Close waits no longer
		if dropped := w.dropped.Swap(0); dropped > 0 {
			_, _ = batch.Write(w.notice(dropped))
		}
	}
	var due <-chan time.Time // when the batch is to be written; nil while it is empty
	for open := true; open; {
		select {
		case line := <-w.lines:
			if write(line); due == nil {
				due = time.After(lineInterval)
			}
		case <-due:
			_, due = batch.Flush(), nil
		case <-w.closing:
			open = false
		}
	}
	for len(w.lines) > 0 {
		write(<-w.lines)
	}
	_ = batch.Flush()
}

// retrying writes to out. An error, such as that of a full disk, is waited out, so that lines stay whole, until Close waits no longer.
type retrying struct{ *lineWriter }

// Write implements io.Writer.
func (r retrying) Write(p []byte) (written int, err error) {
	for {
		n, err := r.out.Write(p[written:])
		if written += n; err == nil {
			return written, nil
		}
		select {
		case <-time.After(lineInterval):
		case <-r.given:
			return written, err
		}
	}
}
