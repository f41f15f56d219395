package bootstrap

import (
	"context"
	"sync"
	"time"

	"go.uber.org/fx"
	"go.uber.org/zap"

	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/tokens"
)

// useLogModule stores the last-used times of tokens now and then, and once more at the end.
func useLogModule(cfg Config) fx.Option {
	return fx.Invoke(func(lifecycle fx.Lifecycle, uses *tokens.UseLog) {
		repeat(lifecycle, cfg.UseInterval, func(ctx context.Context) { _, _ = uses.Do(ctx) }) // it keeps what it could not store
		// A database that is away must not make a stop fail.
		lifecycle.Append(fx.StopHook(func(ctx context.Context) { _, _ = uses.Do(ctx) }))
	})
}

// sweepModule removes expired pastes in the background.
func sweepModule(cfg Config) fx.Option {
	return fx.Invoke(func(lifecycle fx.Lifecycle, sweep *pastes.Sweep, log *zap.Logger) {
		if cfg.SweepInterval == 0 {
			return
		}
		repeat(lifecycle, cfg.SweepInterval, func(ctx context.Context) {
			removed, err := sweep.Do(ctx)
			switch {
			case err != nil && ctx.Err() == nil:
				log.Warn("sweep", zap.Int("removed", removed), zap.Error(err))
			case removed > 0:
				log.Info("sweep", zap.Int("removed", removed))
			}
		})
	})
}

// repeat calls task at every interval between start and stop. Stopping cancels the task's context and
// waits for it to return.
func repeat(lifecycle fx.Lifecycle, interval time.Duration, task func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	lifecycle.Append(fx.Hook{
		OnStart: func(context.Context) error {
			running.Go(func() {
				ticker := time.NewTicker(interval)
				defer ticker.Stop()
				for {
					select {
					case <-ctx.Done():
						return
					case <-ticker.C:
						task(ctx)
					}
				}
			})
			return nil
		},
		OnStop: func(context.Context) error {
			cancel()
			running.Wait()
			return nil
		},
	})
}
