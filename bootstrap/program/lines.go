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
	// lineBacklog is how many lines may wait, about a megabyte. Further ones are dropped.
	lineBacklog = 4096
	// lineBatch is how many bytes are written at once; fewer wait for lineInterval.
	lineBatch    = 128 << 10
	lineInterval = 100 * time.Millisecond
	// lineCloseTime is how long Close waits.
	lineCloseTime = time.Second
)

// lineWriter writes lines in the background to a writer that may block, such as a pipe that nobody reads. When the backlog is full it
// drops lines, and later writes how many.
//
// zapcore.BufferedWriteSyncer blocks in Write, and zerolog's diode.Writer in Close; both lose lines while a disk is full.
type lineWriter struct {
	out     io.Writer
	notice  func(dropped int64) []byte // the line about those dropped
	lines   chan []byte
	dropped atomic.Int64
	closing chan struct{}
	given   chan struct{} // closed lineCloseTime after Close
	ended   chan struct{} // closed when run has returned
	close   func()
}

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

// Write implements io.Writer: line is one line. It never blocks or fails, even after Close.
func (w *lineWriter) Write(line []byte) (int, error) {
	select {
	case w.lines <- bytes.Clone(line):
	default:
		w.dropped.Add(1)
	}
	return len(line), nil
}

// Close writes the remaining lines, for at most lineCloseTime.
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
		_, _ = batch.Write(line) // it fails only after Close gives up
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

// retrying retries failed writes, as to a full disk, until Close gives up: so lines stay complete.
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
