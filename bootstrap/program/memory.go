package program

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// leastAllocated is how many bytes may be allocated between two garbage collections while less is in use (decision 0013).
const leastAllocated = 20 << 20

// What GOGC is by default, and the most that is worth setting: Go multiplies the least heap that it collects, 4 MiB, by it, too.
const (
	defaultPercent = 100
	maxPercent     = defaultPercent * leastAllocated / (4 << 20)
)

// pacing lets the collector run less often than Go would as long as little is in use: as much may be allocated as is in use,
// which is Go's rule, and leastAllocated at least. It is nil when the operator decides when to collect, with GOGC or GOMEMLIMIT.
type pacing struct {
	set func(percent int) // debug.SetGCPercent

	mu      sync.Mutex
	percent int
	stopped bool
}

// startPacing paces the collector until stop is called.
func startPacing(set func(percent int)) *pacing {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	p := &pacing{set: set, percent: defaultPercent}
	p.collected()
	return p
}

// collected adapts the percentage to what the last collection has left, and is called again after the next one. Setting it
// stops the process for a moment: what makes no difference is left.
func (p *pacing) collected() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return
	}
	if wanted := percentFor(collectable()); 10*max(wanted-p.percent, p.percent-wanted) >= p.percent {
		p.percent = wanted
		p.set(wanted)
	}
	// It contains a pointer, without which it could stand beside others and live as long as they do.
	runtime.AddCleanup(new(*pacing), (*pacing).collected, p)
}

// stop gives the process back to Go's rule.
func (p *pacing) stop() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	p.set(defaultPercent)
}

// percentFor returns the percentage of so many bytes that pacing allows.
func percentFor(inUse uint64) int {
	return int(min(max(leastAllocated*100/max(inUse, 1), defaultPercent), maxPercent))
}

// collectable is what GOGC is a percentage of: the heap after the last collection, stacks and global variables.
func collectable() uint64 {
	samples := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"},
	}
	metrics.Read(samples)
	sum := uint64(0)
	for _, sample := range samples {
		sum += sample.Value.Uint64()
	}
	return sum
}

// What is more than ordinaryMemory is looked at again every releaseInterval: a server under load that never has
// a thousand clients at once stays below it.
const (
	ordinaryMemory  = 48 << 20
	releaseInterval = 10 * time.Second
)

// releaseMemory returns what a storm of clients has left behind to the operating system, at ticks until ctx ends. By
// itself Go collects an idle process every two minutes, and then takes minutes to return what is free. Without
// pacing it does nothing: the operator has chosen Go's own rules.
func (p *pacing) releaseMemory(ctx context.Context, ticks <-chan time.Time) {
	if p == nil {
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
			if memoryInUse() > ordinaryMemory {
				debug.FreeOSMemory()
			}
		}
	}
}

// memoryInUse is what the process has of the operating system.
func memoryInUse() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}
