package program

import (
	"bytes"
	"context"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// These tests are about the memory of the process, so nothing runs beside them.

func TestBallastUnlessTheOperatorDecides(t *testing.T) {
	for _, c := range []struct {
		gogc, limit string
		want        int
	}{{"", "", ballastSize}, {"100", "", 0}, {"", "300MiB", 0}, {"off", "300MiB", 0}} {
		t.Setenv("GOGC", c.gogc)
		t.Setenv("GOMEMLIMIT", c.limit)
		if got := len(newBallast()); got != c.want {
			t.Errorf("GOGC=%s GOMEMLIMIT=%s: got a ballast of %d bytes, want %d", c.gogc, c.limit, got, c.want)
		}
	}
}

// The ballast is memory that the operating system has not provided; without one there is nothing to leave out.
func TestMemoryInUseLeavesTheBallastOut(t *testing.T) {
	kept := make(ballast, ballastSize)
	debug.FreeOSMemory() // what other tests have left goes now, not between the two
	without, with := ballast(nil).memoryInUse(), kept.memoryInUse()
	if got := without - with; got < ballastSize/2 || got > 2*ballastSize {
		t.Errorf("got %d bytes in use without a ballast and %d with one, want a difference of about %d", without, with, ballastSize)
	}
	runtime.KeepAlive(kept)
}

// storm takes as much memory as many clients at once do.
func storm() []byte { return bytes.Repeat([]byte{1}, 2*ordinaryMemory) }

// forced returns how many collections the program has asked for.
func forced() uint32 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.NumForcedGC
}

func TestReleaseMemory(t *testing.T) {
	kept := make(ballast, ballastSize)
	ctx, cancel := context.WithCancel(t.Context())
	ticks, ended := make(chan time.Time), make(chan struct{})
	go func() {
		defer close(ended)
		kept.releaseMemory(ctx, ticks)
	}()
	tick := func() {
		ticks <- time.Now()
		ticks <- time.Now() // taken when the first has been dealt with
	}
	before, taken := forced(), storm()
	tick()
	if forced() == before {
		t.Errorf("got no collection in the storm, with %d bytes in use, want one", kept.memoryInUse())
	}
	runtime.KeepAlive(taken)
	tick()
	if got := kept.memoryInUse(); got > ordinaryMemory {
		t.Fatalf("got %d bytes in use after the storm, want at most %d", got, ordinaryMemory)
	}
	before = forced()
	tick()
	if got := forced() - before; got != 0 {
		t.Errorf("got %d collections below %d bytes, want none", got, ordinaryMemory)
	}
	cancel()
	inTime(t, "releasing memory", func() { <-ended })
	runtime.KeepAlive(kept)
}

// Without a ballast the operator decides: nothing is released, and nothing waits for a tick.
func TestReleaseMemoryIsLeftToTheOperator(t *testing.T) {
	before, taken, ticks := forced(), storm(), make(chan time.Time, 1)
	ticks <- time.Now()
	inTime(t, "releasing no memory", func() { ballast(nil).releaseMemory(t.Context(), ticks) })
	if got := forced() - before; got != 0 {
		t.Errorf("got %d collections, want none", got)
	}
	runtime.KeepAlive(taken)
}
