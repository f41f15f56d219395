package bootstrap

import (
	"context"
	"database/sql"
	"errors"
	"sync"

	"go.uber.org/dig"
	"go.uber.org/fx"
	"go.uber.org/zap"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/application/accounts"
	"github.com/gluepot/gluepot/application/imports"
	"github.com/gluepot/gluepot/application/languages"
	"github.com/gluepot/gluepot/application/moderation"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/search"
	appstats "github.com/gluepot/gluepot/application/stats"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/stats"
)

// Application has all use cases, by module.
type Application struct {
	Users      *users.UseCases
	Tokens     *tokens.UseCases
	Accounts   *accounts.UseCases
	Pastes     *pastes.UseCases
	Languages  *languages.UseCases
	Imports    *imports.UseCases
	Stats      *appstats.UseCases
	Moderation *moderation.UseCases
	Search     *search.UseCases // nil: the configuration leaves it out

	// Ready checks that the database answers and has every migration. It fails with fault.Unavailable.
	Ready func(context.Context) error
	// Analyze makes reads quick at once after an import that stored much. It takes a minute at most.
	Analyze func(context.Context)
	// Statistics returns figures for monitoring, without asking the database.
	Statistics func() Statistics
}

// Statistics counts events since Open, and has the state of the connections.
type Statistics struct {
	Connections sql.DBStats // without those to the standby

	Totals        stats.Totals // as counted last; zero without Config.Totals and Config.Pastes.MaxBytes
	StoreMaxBytes int64

	PastesCreated   int64 // without those of operators and imports
	PastesSwept     int64
	FailedSweeps    int64
	RejectedSignIns int64
	PendingUses     int // last-used times of tokens that are not stored yet
}

// Open connects to the database of cfg, creates and migrates it if cfg allows it, and returns the use cases and a function that stores
// what is pending and closes the connections. It opens no socket, and reads neither flags nor the environment.
//
// It fails with one error for all wrong values of cfg, or with fault.Unavailable when the database does not answer, does not exist, or
// lacks migrations (gormstore.ErrOutdated). When it fails, also because ctx is cancelled, nothing stays open.
//
// Call the function after all use cases have returned. It ignores the cancellation of its context, so that it can be deferred, but
// returns within a few seconds even when the database hangs, with an error that says what is lost. It may be called again or
// concurrently: all calls return the result of the first.
func Open(ctx context.Context, cfg Config) (*Application, func(context.Context) error, error) {
	if err := cfg.Validate(); err != nil {
		return nil, nil, err
	}
	if cfg.Logger == nil {
		cfg.Logger = zap.NewNop()
	} else if cfg.Database.OnSlowStatement == nil {
		cfg.Database.OnSlowStatement = func(slow gormstore.Statement) {
			cfg.Logger.Warn("a statement was slow",
				zap.String("statement", slow.SQL), zap.Duration("duration", slow.Duration), zap.Int64("rows", slow.Rows))
		}
	}
	cfg.Database.RefuseWrites = cfg.ReadOnly
	var app *Application
	graph := fx.New(fx.NopLogger, fx.Supply(cfg), // what fails is returned
		fx.Provide(func(lifecycle fx.Lifecycle) (*gormstore.Store, standby, error) { return newStores(ctx, lifecycle, cfg) }, newApplication),
		fx.Invoke(storeUses, sweep, countTotals), fx.Populate(&app))
	if err := graph.Err(); err != nil {
		return nil, nil, dig.RootCause(err)
	}
	// The start hook watches ctx itself: when the context of Start ends, fx abandons the running hook and closes nothing.
	if err := graph.Start(context.WithoutCancel(ctx)); err != nil {
		return nil, nil, err
	}
	// Each stop hook bounds its own time: when the context of Stop ends, fx skips the remaining hooks.
	stop := sync.OnceValue(func() error { return graph.Stop(context.Background()) })
	if !cfg.AllowPendingMigrations {
		if err := app.Ready(ctx); err != nil {
			return nil, nil, errors.Join(err, stop())
		}
	}
	return app, func(context.Context) error { return stop() }, nil
}
