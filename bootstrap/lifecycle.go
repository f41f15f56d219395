package bootstrap

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/dig"
	"go.uber.org/fx"
	"go.uber.org/fx/fxevent"
	"go.uber.org/zap"

	"github.com/gluepot/gluepot/adapters/gormstore"
)

// What the parts of a stop may take once the last request is answered, also when the database hangs: together
// less than what a stop may last beyond its drain.
const (
	sweepStopTime = 500 * time.Millisecond
	useFlushTime  = 2 * time.Second
	closeTime     = time.Second
)

// useStoreTime bounds one attempt to store last-used times between start and stop.
const useStoreTime = 10 * time.Second

// launch builds what options and the modules that every entrypoint needs describe, and starts it. stop ends
// it; see Open. When launch fails, whatever it had opened is closed again, also when ctx was cancelled.
func launch(ctx context.Context, cfg Config, options ...fx.Option) (stop func(context.Context) error, err error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Logger == nil {
		cfg.Logger = zap.NewNop()
	} else if cfg.Database.OnSlowStatement == nil {
		cfg.Database.OnSlowStatement = slowStatements(cfg.Logger)
	}
	store, err := gormstore.New(cfg.Database)
	if err != nil {
		return nil, err
	}
	app := fx.New(fx.WithLogger(func() fxevent.Logger { return events(cfg.Logger) }), fx.Supply(store), graph(cfg), fx.Options(options...),
		fx.Invoke(func(p parts) { inOrder(ctx, cfg, p) }))
	if err := app.Err(); err != nil { // then fx calls no hook
		return nil, errors.Join(dig.RootCause(err), store.Close())
	}
	// The hooks look at ctx themselves. fx, when its context ends, leaves a hook that runs to itself and closes
	// nothing; and it skips hooks of a stop whose context is over.
	if err := app.Start(context.WithoutCancel(ctx)); err != nil {
		return nil, err
	}
	once := sync.OnceValue(func() error { return app.Stop(context.Background()) })
	return func(context.Context) error { return once() }, nil
}

// events passes on what fx says of the graph and of each hook, at debug level: its errors are also Open's, whose caller
// logs them or not.
func events(log *zap.Logger) fxevent.Logger {
	logger := &fxevent.ZapLogger{Logger: log}
	logger.UseLogLevel(zap.DebugLevel)
	logger.UseErrorLevel(zap.DebugLevel)
	return logger
}

// slowStatements logs them, without their arguments.
func slowStatements(log *zap.Logger) func(gormstore.Statement) {
	return func(slow gormstore.Statement) {
		fields := []zap.Field{zap.String("statement", slow.SQL), zap.Duration("duration", slow.Duration)}
		if slow.Rows >= 0 {
			fields = append(fields, zap.Int64("rows", slow.Rows))
		}
		log.Warn("a statement was slow", fields...)
	}
}

// parts is what starts and stops.
type parts struct {
	fx.In

	Lifecycle   fx.Lifecycle
	Store       *gormstore.Store
	Application *Application
}

// inOrder is the one place that says in which order it starts. It stops in the reverse order: the sweeper ends, the
// last-used times that the last use cases left are stored, and the database is closed. A start ends early
// with ctx; each part of a stop bounds its own time.
func inOrder(ctx context.Context, cfg Config, p parts) {
	// Before the hook that connects, so that it closes what a failed one has opened.
	p.Lifecycle.Append(fx.StopHook(func() error {
		return within(closeTime, "close the database", func(context.Context) error { return p.Store.Close() })
	}))
	p.Lifecycle.Append(fx.StartHook(func() error { return openStore(ctx, p.Store, cfg) }))

	store := func(ctx context.Context) error {
		dropped, err := p.Application.Tokens.Uses.Do(ctx)
		if dropped > 0 {
			cfg.Logger.Warn("last-used times were dropped: too many waited to be stored", zap.Int("uses", dropped))
		}
		return err
	}
	storing := newTask(cfg.Tracer, cfg.UseInterval, func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, useStoreTime)
		defer cancel()
		if err := store(ctx); err != nil && !errors.Is(context.Cause(ctx), errStopping) {
			cfg.Logger.Warn("last-used times are not stored yet", zap.Int("tokens", p.Application.Tokens.Uses.Pending()), zap.Error(err))
		}
	})
	p.Lifecycle.Append(fx.StartStopHook(storing.start, func() error {
		return within(useFlushTime, "store when tokens were used", func(ctx context.Context) error {
			_ = storing.stop(ctx)
			if err := store(ctx); err != nil {
				return fmt.Errorf("the last-used times of %d tokens are lost: %w", p.Application.Tokens.Uses.Pending(), err)
			}
			return nil
		})
	}))

	if cfg.SweepInterval > 0 {
		sweeping := newSweeping(cfg, p.Application.Pastes.Sweep)
		p.Lifecycle.Append(fx.StartStopHook(sweeping.start, func() error {
			return within(sweepStopTime, "stop the sweeper", sweeping.stop)
		}))
	}
}

// openStore connects to the database. If it may migrate, it creates what is missing. Otherwise a schema that lacks
// migrations is left to the readiness check, or to whoever has none (see Open).
func openStore(ctx context.Context, store *gormstore.Store, cfg Config) error {
	if cfg.Migrate {
		if err := store.BringUpToDate(ctx); err != nil {
			return err
		}
		if err := store.Whole(ctx); err != nil {
			return err
		}
		cfg.Logger.Debug("the database is open and up to date", zap.Stringer("database", cfg.Database.URL))
		return nil
	}
	if err := store.Connect(ctx); err != nil {
		return err
	}
	err := store.Ready(ctx)
	if err != nil && !errors.Is(err, gormstore.ErrOutdated) {
		return err
	}
	if err := store.Whole(ctx); err != nil {
		return err
	}
	cfg.Logger.Debug("the database is open", zap.Stringer("database", cfg.Database.URL), zap.Bool("migrations_pending", err != nil))
	return nil
}

// within runs a part of a stop under a context that ends after limit, and leaves it to itself when it does
// not return soon after that.
func within(limit time.Duration, what string, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	done := make(chan error, 1)
	go func() {
		defer cancel()
		done <- do(ctx)
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(limit + 100*time.Millisecond):
		return fmt.Errorf("%s: not done after %v", what, limit)
	}
}
