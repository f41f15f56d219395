package program

import (
	"context"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// collectorHeadroom is what may be allocated between two garbage collections beyond what Go's own rule, as
// much as is in use, allows (decision 0013).
const collectorHeadroom = 16 << 20

// reserveHeadroom returns memory to be kept, and never touched, for as long as the program serves: the
// collector takes it for being in use, while the operating system has not provided it. An operator
// who sets GOGC or GOMEMLIMIT decides instead.
func reserveHeadroom() []byte {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	return make([]byte, collectorHeadroom)
}

// What is more than ordinaryMemory is looked at again every releaseInterval: a server under load that never has
// a thousand clients at once stays below it.
const (
	ordinaryMemory  = 48 << 20
	releaseInterval = 10 * time.Second
)

// releaseMemory returns what a storm of clients has left behind to the operating system, until ctx ends. By itself Go
// collects an idle process every two minutes, and then takes minutes to return what is free.
func releaseMemory(ctx context.Context) {
	ticker := time.NewTicker(releaseInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if memoryInUse() > ordinaryMemory {
				debug.FreeOSMemory()
			}
		}
	}
}

// memoryInUse is what the process has of the operating system, less the headroom, which that has not provided.
func memoryInUse() int64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return int64(samples[0].Value.Uint64()) - int64(samples[1].Value.Uint64()) - collectorHeadroom
}
