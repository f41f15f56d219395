package bootstrap

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/domain/trace"
)

// errStopping is why the context of a task ends.
var errStopping = errors.New("the process is being stopped")

// task is something that is done again and again in the background, from start to stop.
type task struct {
	interval time.Duration
	do       func(context.Context)
	ctx      context.Context //nolint:containedctx // it lives as long as the task
	cancel   context.CancelCauseFunc
	ended    chan struct{}
}

// newTask returns one that begins with the first interval after start. What it does is told to a tracer, which may be nil.
func newTask(tracer trace.Tracer, interval time.Duration, do func(context.Context)) *task {
	ctx, cancel := context.WithCancelCause(context.Background())
	if tracer != nil {
		ctx = trace.With(ctx, tracer)
	}
	return &task{interval: interval, do: do, ctx: ctx, cancel: cancel, ended: make(chan struct{})}
}

func (t *task) start() {
	go func() {
		defer close(t.ended)
		ticker := time.NewTicker(t.interval)
		defer ticker.Stop()
		for {
			select {
			case <-t.ctx.Done():
				return
			case <-ticker.C:
				t.do(t.ctx)
			}
		}
	}()
}

// stop cancels what is being done and waits for it to return.
func (t *task) stop(ctx context.Context) error {
	t.cancel(errStopping)
	select {
	case <-t.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// newSweeping returns the task that removes expired pastes.
func newSweeping(cfg Config, sweep *pastes.Sweep) *task {
	return newTask(cfg.Tracer, cfg.SweepInterval, func(ctx context.Context) {
		removed, err := sweep.Do(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			cfg.Logger.Warn("sweep", zap.Int("removed", removed), zap.Error(err))
		case removed > 0:
			cfg.Logger.Info("sweep", zap.Int("removed", removed))
		}
	})
}
