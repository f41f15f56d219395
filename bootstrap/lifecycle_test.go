package bootstrap

import (
	"context"
	"sync/atomic"
	"testing"
	"time"
)

// TestRepeatStops stops while a call is running. The stop waits for a call that ends when it is cancelled. A call that
// goes on, as on a busy machine, neither delays the stop nor makes it fail.
func TestRepeatStops(t *testing.T) {
	t.Parallel()
	for name, ends := range map[string]bool{"a call that ends": true, "a call that goes on": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			running, release := make(chan struct{}), make(chan struct{})
			defer close(release)
			var ended atomic.Bool
			hook := repeat(time.Millisecond, func(ctx context.Context) {
				close(running)
				<-ctx.Done()
				if !ends {
					<-release
				}
				ended.Store(true)
			})
			if err := hook.OnStart(t.Context()); err != nil {
				t.Fatal(err)
			}
			<-running
			if err := hook.OnStop(t.Context()); err != nil {
				t.Errorf("got %v, want no error", err)
			}
			if ends && !ended.Load() {
				t.Error("got the end of the stop before that of the call, want it after")
			}
		})
	}
}
