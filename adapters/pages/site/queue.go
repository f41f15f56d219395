package site

import (
	"context"
	"runtime"

	"github.com/gluepot/gluepot/domain/fault"
)

// Queue lets work that takes much of the processor have half of the processors, so that it slows nothing else down.
type Queue struct {
	Places chan struct{} // including those that wait
	Slots  chan struct{}
}

// maxWaiting bounds the requests that wait in a queue, which can hold a paste each.
const maxWaiting = 32

func newQueue() Queue {
	slots := max(1, runtime.GOMAXPROCS(0)/2)
	return Queue{Places: make(chan struct{}, slots+maxWaiting), Slots: make(chan struct{}, slots)}
}

// Enter waits for a slot, which leave gives back. It fails with fault.Unavailable when too many wait, or the request's time is over.
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
