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

func TestPacingUnlessTheOperatorDecides(t *testing.T) {
	for _, c := range []struct {
		gogc, limit string
		want        bool
	}{{"", "", true}, {"100", "", false}, {"", "300MiB", false}, {"off", "300MiB", false}} {
		t.Setenv("GOGC", c.gogc)
		t.Setenv("GOMEMLIMIT", c.limit)
		started := startPacing(func(int) {})
		if got := started != nil; got != c.want {
			t.Errorf("GOGC=%s GOMEMLIMIT=%s: got pacing %v, want %v", c.gogc, c.limit, got, c.want)
		}
		started.stop()
	}
}

func TestPercentFor(t *testing.T) {
	t.Parallel()
	for inUse, want := range map[uint64]int{
		0: maxPercent, 1 << 20: maxPercent, 4 << 20: 500, 8 << 20: 250, leastAllocated: 100, 1 << 40: 100,
	} {
		if got := percentFor(inUse); got != want {
			t.Errorf("%d bytes in use: got %d percent, want %d", inUse, got, want)
		}
	}
}

// Each collection adapts the percentage to what it leaves, until pacing stops.
func TestPacingFollowsCollections(t *testing.T) {
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
	debug.FreeOSMemory() // what other tests have left
	percents := make(chan int, 100)
	p := startPacing(func(percent int) { percents <- percent })
	defer p.stop()
	next := func(cause string, good func(int) bool) {
		t.Helper()
		inTime(t, "a percentage "+cause, func() {
			for t.Context().Err() == nil {
				select {
				case percent := <-percents:
					if good(percent) {
						return
					}
				default: // a collection that begins before the last one has been dealt with is not noticed
					runtime.GC()
				}
			}
		})
	}
	next("at the beginning", func(percent int) bool { return percent > defaultPercent })
	held := bytes.Repeat([]byte{1}, 2*leastAllocated)
	next("when much is in use", func(percent int) bool { return percent == defaultPercent })
	runtime.KeepAlive(held)
	next("when little is in use", func(percent int) bool { return percent > defaultPercent })
	p.stop()
	next("at the end", func(percent int) bool { return percent == defaultPercent })
	if p.collected(); len(percents) > 0 {
		t.Errorf("got %d percent after the end, want no more", <-percents)
	}
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
	t.Setenv("GOGC", "")
	t.Setenv("GOMEMLIMIT", "")
	p := startPacing(func(int) {})
	defer p.stop()
	ctx, cancel := context.WithCancel(t.Context())
	ticks, ended := make(chan time.Time), make(chan struct{})
	go func() {
		defer close(ended)
		p.releaseMemory(ctx, ticks)
	}()
	tick := func() {
		ticks <- time.Now()
		ticks <- time.Now() // taken when the first has been dealt with
	}
	before, taken := forced(), storm()
	tick()
	if forced() == before {
		t.Errorf("got no collection in the storm, with %d bytes in use, want one", memoryInUse())
	}
	runtime.KeepAlive(taken)
	tick()
	if got := memoryInUse(); got > ordinaryMemory {
		t.Fatalf("got %d bytes in use after the storm, want at most %d", got, ordinaryMemory)
	}
	before = forced()
	tick()
	if got := forced() - before; got != 0 {
		t.Errorf("got %d collections below %d bytes, want none", got, ordinaryMemory)
	}
	cancel()
	inTime(t, "releasing memory", func() { <-ended })
}

// Without pacing the operator decides: nothing is released, and nothing waits for a tick.
func TestReleaseMemoryIsLeftToTheOperator(t *testing.T) {
	before, taken, ticks := forced(), storm(), make(chan time.Time, 1)
	ticks <- time.Now()
	inTime(t, "releasing no memory", func() { (*pacing)(nil).releaseMemory(t.Context(), ticks) })
	if got := forced() - before; got != 0 {
		t.Errorf("got %d collections, want none", got)
	}
	runtime.KeepAlive(taken)
}
