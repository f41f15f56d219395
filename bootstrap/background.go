package bootstrap

import (
	"context"
	"errors"
	"time"

	"go.uber.org/fx"
)

// repeat calls do in the background after each interval. Its stop hook cancels the running call and waits for it.
func repeat(interval time.Duration, do func(context.Context)) fx.Hook {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	run := func() {
		defer close(ended)
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				do(ctx)
			}
		}
	}
	return fx.StartStopHook(func() { go run() }, func() error {
		cancel()
		select {
		case <-ended:
			return nil
		case <-time.After(repeatStopTime):
			return errors.New("what runs in the background has not ended")
		}
	})
}
