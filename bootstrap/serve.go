package bootstrap

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"go.uber.org/fx"
	"go.uber.org/zap"

	"github.com/gluepot/gluepot/adapters/httpapi"
	"github.com/gluepot/gluepot/domain/paste"
)

// closeTime is what may pass, after the requests in flight are done, until the database is closed.
const closeTime = 5 * time.Second

// serve runs the server until a SIGINT or SIGTERM has stopped it or it fails. A second signal, or
// cancelling ctx, returns at once.
func serve(ctx context.Context, cfg Config, demo bool, stdout, stderr io.Writer) error {
	// A pipe of the log whose other end is closed must not end the process: the writer deals with the error.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	log, closeLog, err := newLogger(cfg.Log, stderr)
	if err != nil {
		return err
	}
	defer runtime.KeepAlive(reserveHeadroom())
	defer closeLog()

	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(signals)

	var (
		server   *httpapi.Server
		useCases UseCases
		pastes   paste.Creator
	)
	app := fx.New(
		fx.NopLogger,
		fx.Supply(log),
		coreModules(cfg), sweepModule(cfg), apiModule(cfg), serverModule(),
		fx.Populate(&server, &pastes),
		fx.Invoke(func(u UseCases) { useCases = u }),
	)
	started := make(chan error, 1)
	go func() { started <- start(ctx, app) }()
	select {
	case err := <-started:
		if err != nil {
			return err
		}
	case s := <-signals: // nothing is being served yet, and migrations are transactions
		return fmt.Errorf("stopped by the signal %v before the start was complete", s)
	}
	log.Info("serving", zap.Stringer("address", server.Addr()), zap.String("base_path", cfg.HTTP.BasePath),
		zap.Stringer("database", cfg.Database.URL), zap.String("version", Version()))
	if demo {
		if err := seedDemo(ctx, useCases, pastes, "http://"+reachable(server.Addr())+cfg.HTTP.BasePath, stdout); err != nil {
			return fmt.Errorf("store the demonstration data: %w", err)
		}
	}

	var failure error
	select {
	case s := <-signals:
		log.Info("stopping", zap.Stringer("signal", s))
	case <-ctx.Done():
		return ctx.Err()
	case failure = <-server.Failed():
	}
	stopCtx, cancel := context.WithTimeout(context.Background(), cfg.HTTP.DrainDelay+cfg.HTTP.DrainTimeout+closeTime)
	defer cancel()
	stopped := make(chan error, 1)
	go func() { stopped <- app.Stop(stopCtx) }()
	select {
	case err := <-stopped:
		if failure == nil {
			failure = err
		}
		log.Info("stopped")
		return failure
	case s := <-signals:
		return fmt.Errorf("stopped at once by a second signal (%v); requests in flight were cut off", s)
	}
}
