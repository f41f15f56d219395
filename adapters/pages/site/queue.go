package site

import (
	"context"
	"runtime"

	"github.com/gluepot/gluepot/domain/fault"
)

// Queue limits expensive work to half of the processors.
type Queue struct {
	Places chan struct{} // including waiting work
	Slots  chan struct{}
}

// maxWaiting bounds the waiting requests, each of which may hold a paste in memory.
const maxWaiting = 32

func newQueue() Queue {
	slots := max(1, runtime.GOMAXPROCS(0)/2)
	return Queue{Places: make(chan struct{}, slots+maxWaiting), Slots: make(chan struct{}, slots)}
}

// Enter waits for a slot; leave releases it. It fails with fault.Unavailable when too many wait, or ctx ends.
func (q Queue) Enter(ctx context.Context) (leave func(), err error) {
	const message = "Many large pastes are being asked for at the moment. Try again shortly."
	select {
	case q.Places <- struct{}{}:
	default:
		return nil, fault.New(fault.Unavailable, message)
	}
	select {
	case q.Slots <- struct{}{}:
		return func() { <-q.Slots; <-q.Places }, nil
	case <-ctx.Done():
		<-q.Places
		return nil, fault.Wrap(fault.Unavailable, message, context.Cause(ctx))
	}
}
