package program

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// ballastSize is what may be allocated between two garbage collections beyond what Go's own rule, as
// much as is in use, allows (decision 0013).
const ballastSize = 16 << 20

// ballast is a GC ballast: memory that is kept, and never touched, for as long as the program serves. The collector
// takes it for being in use, while the operating system has not provided it. It is nil when the operator decides
// when to collect, with GOGC or GOMEMLIMIT.
type ballast []byte

func newBallast() ballast {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	return make(ballast, ballastSize)
}

// What is more than ordinaryMemory is looked at again every releaseInterval: a server under load that never has
// a thousand clients at once stays below it.
const (
	ordinaryMemory  = 48 << 20
	releaseInterval = 10 * time.Second
)

// releaseMemory returns what a storm of clients has left behind to the operating system, at ticks until ctx ends. By
// itself Go collects an idle process every two minutes, and then takes minutes to return what is free. Without a
// ballast it does nothing: the operator has chosen Go's own rules.
func (b ballast) releaseMemory(ctx context.Context, ticks <-chan time.Time) {
	if b == nil {
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
			if b.memoryInUse() > ordinaryMemory {
				debug.FreeOSMemory()
			}
		}
	}
}

// memoryInUse is what the process has of the operating system, less the ballast, which that has not provided.
func (b ballast) memoryInUse() int64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64()) - int64(samples[1].Value.Uint64()) - int64(len(b))
}
