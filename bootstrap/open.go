package bootstrap

import (
	"context"
	"database/sql"

	"go.uber.org/fx"

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

// parts are what an Application is made of.
type parts struct {
	fx.In

	Users      *users.UseCases
	Tokens     *tokens.UseCases
	Accounts   *accounts.UseCases
	Pastes     *pastes.UseCases
	Languages  *languages.UseCases
	Imports    *imports.UseCases
	Stats      *appstats.UseCases
	Moderation *moderation.UseCases
	Search     *search.UseCases `optional:"true"`
	Store      *gormstore.Store
	Statistics func() Statistics
}

func newApplication(in parts) *Application {
	return &Application{
		Users: in.Users, Tokens: in.Tokens, Accounts: in.Accounts, Pastes: in.Pastes, Languages: in.Languages,
		Imports: in.Imports, Stats: in.Stats, Moderation: in.Moderation, Search: in.Search,
		Ready: in.Store.Ready, Analyze: in.Store.Analyze, Statistics: in.Statistics,
	}
}

func newStatistics(
	cfg Config, store *gormstore.Store, stats *appstats.UseCases, pastes *pastes.UseCases, tokens *tokens.UseCases,
) func() Statistics {
	return func() Statistics {
		return Statistics{
			Connections:     store.Statistics(),
			Totals:          stats.Sum.Last(),
			StoreMaxBytes:   cfg.Pastes.MaxBytes,
			PastesCreated:   pastes.CreateOwn.Count(),
			PastesSwept:     pastes.Sweep.Removed(),
			FailedSweeps:    pastes.Sweep.Failures(),
			RejectedSignIns: tokens.SignIn.Rejections(),
			PendingUses:     tokens.Uses.Pending(),
		}
	}
}

// Open connects to the database of cfg, creates and migrates it if cfg allows it, and returns the use cases and a
// function that stores what is pending and closes the connections. It opens no socket, and reads neither flags nor the
// environment. Programs that use fx have Module.
//
// It fails with one error for all wrong values of cfg, or with fault.Unavailable when the database does not answer,
// does not exist, or lacks migrations (gormstore.ErrOutdated). When it fails, also because ctx is cancelled, nothing
// stays open.
//
// Call the function after all use cases have returned. It ignores the cancellation of its context, so that it can be
// deferred, but returns within a few seconds even when the database hangs, with an error that says what is lost. It may
// be called again or concurrently: all calls return the result of the first.
func Open(ctx context.Context, cfg Config) (*Application, func(context.Context) error, error) {
	var app *Application
	stop, err := Start(ctx, fx.NopLogger, Module(cfg), fx.Populate(&app)) // what fails is returned
	if err != nil {
		return nil, nil, err
	}
	return app, stop, nil
}
