package pages

import (
	"context"
	"runtime"

	"github.com/gluepot/gluepot/domain/fault"
)

// queue lets work that takes much of the processor have half of the processors, so that it slows nothing else down.
type queue struct {
	places chan struct{} // those that wait included
	slots  chan struct{}
}

// maxWaiting bounds the requests that wait in a queue, which can hold a paste each.
const maxWaiting = 32

func newQueue() queue {
	slots := max(1, runtime.GOMAXPROCS(0)/2)
	return queue{places: make(chan struct{}, slots+maxWaiting), slots: make(chan struct{}, slots)}
}

// enter waits for a slot, which leave gives back. It fails with fault.Unavailable when too many wait, or the request's time is over.
func (q queue) enter(ctx context.Context) (leave func(), err error) {
	const message = "Many large pastes are being asked for at the moment. Try again shortly."
	select {
	case q.places <- struct{}{}:
	default:
		return nil, fault.New(fault.Unavailable, message)
	}
	select {
	case q.slots <- struct{}{}:
		return func() { <-q.slots; <-q.places }, nil
	case <-ctx.Done():
		<-q.places
		return nil, fault.Wrap(fault.Unavailable, message, context.Cause(ctx))
	}
}
