package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/adapters/httpapi"
	"github.com/gluepot/gluepot/adapters/httpapi/limit"
	"github.com/gluepot/gluepot/adapters/httpapi/server"
	"github.com/gluepot/gluepot/adapters/metrics"
	"github.com/gluepot/gluepot/adapters/pages"
	"github.com/gluepot/gluepot/adapters/tracing"
	"github.com/gluepot/gluepot/application/search"
	"github.com/gluepot/gluepot/bootstrap"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
	domainsearch "github.com/gluepot/gluepot/domain/search"
)

// serve runs the server until it fails or ctx ends, and returns when it has stopped. An unclean stop is logged and is no failure.
func serve(ctx context.Context, cfg config, demo bool, stdout, stderr io.Writer) error {
	// A closed pipe on standard error must not end the process: the log's writer handles the error.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	log, closeLog := newLogger(cfg.LogLevel, cfg.LogFormat, stderr)
	defer closeLog()
	running := &running{sendTraces: func() error { return nil }}
	if err := running.start(ctx, cfg, demo, log); err != nil {
		err = errors.Join(err, running.stop())
		if ctx.Err() != nil { // harmless: migrations are transactions
			return fmt.Errorf("stopped before the start was complete: %w", context.Cause(ctx))
		}
		return err
	}
	address := running.server.Addr()
	log.Info("serving", zap.Stringer("address", address), zap.String("scheme", cfg.scheme()), zap.String("base_path", cfg.HTTP.BasePath),
		zap.Stringer("database", gormstore.URL(cfg.Database.URL)), zap.String("version", Version()))

	go warnOfProviders(ctx, running.app.Accounts.Providers.Do(), log)

	var failure error
	if demo {
		failure = announceDemonstration(ctx, running.app.Tokens.Issue, address, cfg, stdout)
	}
	if failure == nil {
		select {
		case <-ctx.Done():
			log.Info("stopping", zap.String("cause", context.Cause(ctx).Error()))
		case failure = <-running.server.Failed():
		}
	}
	if err := running.stop(); err != nil {
		log.Warn("the stop was incomplete", zap.Error(err))
	}
	log.Info("stopped")
	return failure
}

// warnOfProviders logs providers that do not answer. They are tried again with each sign-in.
func warnOfProviders(ctx context.Context, sources []identity.Source, log *zap.Logger) {
	for _, source := range sources {
		if _, err := source.Begin(ctx, identity.NewProof()); err != nil && ctx.Err() == nil {
			log.Warn("a provider does not answer", zap.String("provider", source.Name), zap.Error(err))
		}
	}
}

// running is a server on what bootstrap.Open opened.
type running struct {
	app    *bootstrap.Application
	close  func(context.Context) error // closes app
	server *server.Server
	admin  *http.Server // for metrics, or nil

	sendTraces func() error // sends those that remain
}

// start opens the use cases and serves them. If it fails, stop closes what it has opened.
func (r *running) start(ctx context.Context, cfg config, demo bool, log *zap.Logger) (err error) {
	if demo {
		if err := prepareDemonstration(ctx, cfg, log); err != nil {
			return err
		}
	}
	if traces := tracing.Open(Version(), log); traces != nil {
		cfg.Database.Tracer = traces.Statements()
		cfg.HTTP.Tracing = traces.Middleware(httpapi.TraceKey, httpapi.Route, httpapi.PathAlive, httpapi.PathReady)
		r.sendTraces = func() error {
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			defer cancel()
			return traces.Close(ctx)
		}
	}
	if r.app, r.close, err = bootstrap.Open(ctx, cfg.served(log)); err != nil {
		return err
	}
	if cfg.AdminAddr != "" {
		figures := metrics.New(Version(), limit.Names(), func() metrics.Snapshot { return metrics.Snapshot(r.app.Statistics()) })
		cfg.HTTP.Observe, cfg.HTTP.OnLimited = figures.Began, figures.Limited
		if r.admin, err = metrics.Listen(ctx, cfg.AdminAddr, figures.Handler(), log); err != nil {
			return err
		}
	}
	r.server, err = startServer(ctx, cfg, r.app, log)
	return err
}

func startServer(ctx context.Context, cfg config, app *bootstrap.Application, log *zap.Logger) (*server.Server, error) {
	if cfg.Pages {
		cfg.Site.BasePath, cfg.Site.PublicURL = cfg.HTTP.BasePath, cfg.HTTP.PublicURL
		site, err := pages.New(cfg.Site, pages.Modules{
			Users: app.Users, Tokens: app.Tokens, Accounts: app.Accounts, Pastes: app.Pastes, Languages: app.Languages,
			Search: searchIfIndexed(ctx, app, log), Moderation: app.Moderation,
		})
		if err != nil {
			return nil, err
		}
		cfg.HTTP.Pages = site
	}
	use := httpapi.Modules{Users: app.Users, Tokens: app.Tokens, Pastes: app.Pastes, Languages: app.Languages}
	api, err := httpapi.New(cfg.HTTP, use, app.Ready, log)
	if err != nil {
		return nil, err
	}
	started := server.New(cfg.Server, api, log)
	return started, started.Start(ctx)
}

// searchIfIndexed returns the search, or nil if it is off or the database has no index.
func searchIfIndexed(ctx context.Context, app *bootstrap.Application, log *zap.Logger) *search.UseCases {
	if app.Search == nil || app.Ready(ctx) != nil {
		return app.Search
	}
	if indexed, err := app.Search.Find.Indexed(ctx); indexed || err != nil {
		return app.Search
	}
	log.Warn("search is off", zap.String("reason", fault.MessageOf(domainsearch.ErrNoIndex)))
	return nil
}

// stop drains the server and then stops its dependencies. Each part bounds its own time. Metrics are served to the end; traces are sent
// while the use cases store what is pending.
func (r *running) stop() error {
	ctx := context.Background()
	var undone error
	if r.server != nil {
		undone = r.server.Stop(ctx)
	}
	var flushing errgroup.Group
	flushing.Go(r.sendTraces)
	if r.close != nil {
		undone = errors.Join(undone, r.close(ctx))
	}
	undone = errors.Join(undone, flushing.Wait())
	if r.admin != nil {
		undone = errors.Join(undone, r.admin.Close())
	}
	return undone
}
