package site_test

import (
	"context"
	"sync"
	"testing"

	"github.com/gluepot/gluepot/adapters/pages/site"
)

// together is the context of requests that all get a place in the queue before one of them asks for a slot.
type together struct {
	context.Context

	arrivals *sync.WaitGroup
}

func (c together) Done() <-chan struct{} {
	c.arrivals.Done()
	c.arrivals.Wait()
	return c.Context.Done()
}

// TestQueueOfMany sends as many concurrent requests as may work and wait. None is refused.
func TestQueueOfMany(t *testing.T) {
	t.Parallel()
	const waiting = 8
	queue := site.New(site.Config{}, site.Modules{}).Large
	var arrivals, done sync.WaitGroup
	n := cap(queue.Slots) + waiting
	arrivals.Add(n)
	for range n {
		done.Go(func() {
			leave, err := queue.Enter(together{t.Context(), &arrivals})
			if err != nil {
				arrivals.Done()
				t.Errorf("got %v with free slots, want a slot", err)
				return
			}
			leave()
		})
	}
	done.Wait()
}
