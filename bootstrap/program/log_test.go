package program

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
)

// patience bounds everything that a test waits for.
const patience = time.Minute

// inTime runs do, and fails the test if it does not return.
func inTime(t *testing.T, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("%s: got no return in %v, want one", what, patience)
	}
}

// logLine is a line that a test logged, or a notice of dropped lines.
type logLine struct {
	Number  *int `json:"n"`
	Dropped int  `json:"dropped"`
}

// readLog reads the log until it has accounted for that many lines, and returns how many of them were dropped. The
// lines must be whole and in order.
func readLog(log io.Reader, lines int) (dropped int, err error) {
	scanner := bufio.NewScanner(log)
	for n, last := 0, -1; n+dropped < lines; {
		if !scanner.Scan() {
			return dropped, fmt.Errorf("the log ends after %d lines: %w", n, scanner.Err())
		}
		var line logLine
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
			return dropped, fmt.Errorf("%w: %q", err, scanner.Text())
		}
		switch {
		case line.Number == nil:
			dropped += line.Dropped
		case *line.Number > last:
			n, last = n+1, *line.Number
		default:
			return dropped, fmt.Errorf("line %d came after line %d", *line.Number, last)
		}
	}
	return dropped, nil
}

// tooManyLines of the test are two megabytes, more than the pipe and the backlog hold.
const tooManyLines = 30_000

// fullPipe logs tooManyLines into a pipe that nobody reads, and returns its reading end and a function that stops the
// logger.
func fullPipe(t *testing.T) (reader *os.File, stop func()) {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = reader.Close(), writer.Close() })
	_ = writer.Fd() // makes it block in the system call, as standard error does
	log, stop := newLogger("info", "json", writer)
	inTime(t, "logging into a full pipe", func() {
		for i := range tooManyLines {
			log.Info("line", zap.Int("n", i))
		}
	})
	return reader, stop
}

func TestLogThatIsReadAgain(t *testing.T) {
	t.Parallel()
	reader, stop := fullPipe(t)
	var dropped int
	var err error
	inTime(t, "reading", func() { dropped, err = readLog(reader, tooManyLines) })
	if err != nil || dropped == 0 || dropped == tooManyLines {
		t.Errorf("got %d of %d lines dropped, error %v, want some but not all", dropped, tooManyLines, err)
	}
	inTime(t, "stopping", stop)
}

func TestLogThatIsNeverRead(t *testing.T) {
	t.Parallel()
	_, stop := fullPipe(t)
	inTime(t, "stopping", stop)
}

// TestLogLosesNothing writes from several goroutines, stops, and checks that every line was written.
func TestLogLosesNothing(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	lines := newLineWriter(&out, func(n int64) []byte { t.Errorf("got %d lines dropped, want none", n); return nil })
	const writers, each = 8, 500 // fewer than the backlog takes
	var writing sync.WaitGroup
	for range writers {
		writing.Go(func() {
			for range each {
				_, _ = io.WriteString(lines, "a whole line\n")
			}
		})
	}
	writing.Wait()
	lines.Close()
	inTime(t, "the writer", func() { <-lines.done })
	if want := bytes.Repeat([]byte("a whole line\n"), writers*each); !bytes.Equal(out.Bytes(), want) {
		t.Errorf("got %d bytes, want the %d that were written", out.Len(), len(want))
	}
}

// fickleDisk is a disk that is full from time to time, in the middle of a line.
type fickleDisk struct {
	bytes.Buffer
	turn int
}

func (d *fickleDisk) Write(p []byte) (int, error) {
	if d.turn++; d.turn%3 != 0 {
		n, _ := d.Buffer.Write(p[:min(len(p), 7)])
		return n, errors.New("no space left on device")
	}
	return d.Buffer.Write(p)
}

// TestLogOnFullDiskAtTheEnd checks that a write that fails as the program ends is tried again, and that the end does
// not wait for ever.
func TestLogOnFullDiskAtTheEnd(t *testing.T) {
	t.Parallel()
	var disk fickleDisk // full at once
	lines := newLineWriter(&disk, func(int64) []byte { return nil })
	_, _ = io.WriteString(lines, "the first line\nthe last line\n")
	inTime(t, "stopping", lines.Close)
	inTime(t, "the writer", func() { <-lines.done })
	if got := disk.String(); got != "the first line\nthe last line\n" {
		t.Errorf("on the disk: got %q, want both lines", got)
	}

	broken := newLineWriter(brokenPipe{}, func(int64) []byte { return nil })
	_, _ = io.WriteString(broken, "the last line\n")
	inTime(t, "stopping", broken.Close)
	inTime(t, "the writer", func() { <-broken.done })
}

// brokenPipe is a pipe whose other end is closed.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }
