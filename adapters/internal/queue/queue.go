// Package queue limits expensive work to half of the processors.
package queue

import (
	"context"
	"runtime"

	"github.com/gluepot/gluepot/domain/fault"
)

// Queue has slots for work, and places for the requests that Enter.
type Queue struct {
	Places, Slots chan struct{}

	busy *fault.Error
}

// New returns a queue in which so many requests may wait in Enter. busy, a fault.Busy, is for the others.
func New(waiting int, busy *fault.Error) Queue {
	slots := max(1, runtime.GOMAXPROCS(0)/2)
	return Queue{Places: make(chan struct{}, slots+waiting), Slots: make(chan struct{}, slots), busy: busy}
}

// Enter waits for a slot, for a request that holds memory, such as a paste. leave releases the slot. It fails with
// fault.Busy if too many wait, or if ctx ends.
func (q Queue) Enter(ctx context.Context) (leave func(), err error) {
	select {
	case q.Places <- struct{}{}:
	default:
		return nil, q.busy
	}
	slot, err := q.Wait(ctx)
	if err != nil {
		<-q.Places
		return nil, err
	}
	return func() { slot(); <-q.Places }, nil
}

// Wait is Enter for a request that holds nothing yet.
func (q Queue) Wait(ctx context.Context) (leave func(), err error) {
	select {
	case q.Slots <- struct{}{}:
		return func() { <-q.Slots }, nil
	case <-ctx.Done():
		return nil, fault.Wrap(q.busy.Kind, q.busy.Message, context.Cause(ctx))
	}
}
