package bootstrap

import (
	"context"
	"errors"
	"slices"
	"sync"

	"go.uber.org/dig"
	"go.uber.org/fx"
	"go.uber.org/zap"
)

// Start builds a graph of fx and runs its start hooks. It returns a function like that of Open, which runs the stop
// hooks.
//
// Unlike fx.App.Start it can be cancelled without leaving anything open: fx abandons the hook that runs when its
// context ends, and skips the stop hooks. So fx gets a context that never ends, and start hooks get ctx. Stop hooks
// get no deadline: each bounds its own time. If the graph cannot be built, or a hook fails before the turn of others,
// which fx then does not stop, those hooks run that have no start function, since they close what a constructor has
// opened.
func Start(ctx context.Context, options ...fx.Option) (stop func(context.Context) error, err error) {
	var closers []fx.Hook // by constructors
	endless := context.WithoutCancel(ctx)
	closeFrom := func(first int, err error) error {
		for _, hook := range slices.Backward(closers[first:]) {
			if closeErr := hook.OnStop(endless); closeErr != nil {
				err = errors.Join(err, closeErr)
			}
		}
		return err
	}
	hooks := fx.Decorate(func(lifecycle fx.Lifecycle) fx.Lifecycle {
		return appendFunc(func(hook fx.Hook) {
			if start := hook.OnStart; start == nil {
				closers = append(closers, hook)
			} else {
				first := len(closers)
				hook.OnStart = func(context.Context) error {
					err := ctx.Err()
					if err == nil {
						err = start(ctx)
					}
					if err != nil {
						err = closeFrom(first, err)
					}
					return err
				}
			}
			lifecycle.Append(hook)
		})
	})
	graph := fx.New(append(options, hooks)...)
	if err := graph.Start(endless); err != nil {
		err = dig.RootCause(err)
		if graph.Err() != nil { // fx has run no hook
			err = closeFrom(0, err)
		}
		return nil, err
	}
	once := sync.OnceValue(func() error { return graph.Stop(endless) })
	return func(context.Context) error { return once() }, nil
}

// appendFunc implements fx.Lifecycle.
type appendFunc func(fx.Hook)

// Append implements fx.Lifecycle.
func (f appendFunc) Append(hook fx.Hook) { f(hook) }

// logger is the log of work in the background.
type logger struct{ *zap.Logger }

// logParams are Config.Logger, and the graph's logger.
type logParams struct {
	fx.In

	Config Config
	Log    *zap.Logger `optional:"true"`
}

func newLogger(in logParams) logger {
	switch {
	case in.Config.Logger != nil:
		return logger{in.Config.Logger}
	case in.Log != nil:
		return logger{in.Log}
	}
	return logger{zap.NewNop()}
}
