package bootstrap

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"go.uber.org/fx"
	"go.uber.org/zap"

	"github.com/gluepot/gluepot/adapters/httpapi"
	"github.com/gluepot/gluepot/application/pastes"
)

// serve runs the server until a SIGINT, SIGTERM or SIGHUP, or the end of ctx, has stopped it, or it fails. A second
// SIGINT or SIGTERM returns at once.
func serve(ctx context.Context, cfg Config, demo bool, stdout, stderr io.Writer) error {
	// A pipe of the log whose other end is closed must not end the process: the writer deals with the error.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	log, closeLog, err := newLogger(cfg.Log, stderr)
	if err != nil {
		return err
	}
	defer closeLog()
	defer runtime.KeepAlive(reserveHeadroom())

	signals := make(chan os.Signal, 2)
	signal.Notify(signals, stopSignals()...)
	defer signal.Stop(signals)

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go releaseMemory(ctx)
	ended := make(chan error, 1)
	go func() { ended <- serveUntil(ctx, cfg, demo, log, stdout) }()
	for first := true; ; first = false {
		select {
		case err := <-ended:
			return err
		case s := <-signals:
			if !first && s == syscall.SIGHUP {
				continue // a terminal that closes may send two
			}
			if !first {
				return fmt.Errorf("stopped at once by a second signal (%v); requests in flight were cut off", s)
			}
			cancel(fmt.Errorf("the signal %v", s))
		}
	}
}

// stopSignals are those that end the program in order. A terminal that closes sends SIGHUP, which whoever started the
// program with nohup wants ignored.
func stopSignals() []os.Signal {
	if signal.Ignored(syscall.SIGHUP) {
		return []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	}
	return []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
}

// serveUntil serves until ctx ends, and returns when the server has stopped. What could not be finished in a
// stop that was asked for is in the log and no failure.
func serveUntil(ctx context.Context, cfg Config, demo bool, log *zap.Logger, stdout io.Writer) error {
	var running *serving
	stop, err := launch(ctx, cfg, fx.Supply(log), apiModule(cfg), servingModule(cfg, demo), fx.Populate(&running))
	if err != nil {
		if ctx.Err() != nil { // migrations are transactions
			return fmt.Errorf("stopped by %w before the start was complete", context.Cause(ctx))
		}
		return err
	}
	address := running.server.Addr()
	log.Info("serving", zap.Stringer("address", address), zap.String("base_path", cfg.HTTP.BasePath),
		zap.Stringer("database", cfg.Database.URL), zap.String("version", Version()))

	var failure error
	if demo {
		failure = running.demonstration.announce(ctx, "http://"+reachable(address)+cfg.HTTP.BasePath, stdout)
	}
	if failure == nil {
		select {
		case <-ctx.Done():
			log.Info("stopping", zap.String("cause", context.Cause(ctx).Error()))
		case failure = <-running.server.Failed():
		}
	}
	if err := stop(ctx); err != nil {
		log.Warn("the stop left something undone", zap.Error(err))
	}
	log.Info("stopped")
	return failure
}

// serving is what only a server has, beside the use cases.
type serving struct {
	server        *httpapi.Server
	sweeping      *task          // nil: other nodes sweep
	demonstration *demonstration // nil: none
}

// servingModule provides the interface on a socket and what runs beside it.
func servingModule(cfg Config, demo bool) fx.Option {
	return fx.Module("serving", fx.Provide(
		httpapi.NewServer,
		func(server *httpapi.Server, sweep *pastes.Sweep, stored demonstration, log *zap.Logger) *serving {
			s := &serving{server: server}
			if cfg.SweepInterval > 0 {
				s.sweeping = newSweeping(cfg.SweepInterval, sweep, log)
			}
			if demo {
				s.demonstration = &stored
			}
			return s
		},
	))
}
