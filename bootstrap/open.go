package bootstrap

import (
	"context"
	"database/sql"
	"errors"

	"go.uber.org/fx"

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

// Application is every use case that an entrypoint can call, by module.
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

	// Ready tells whether the database answers and has every migration. It fails with fault.Unavailable.
	Ready func(context.Context) error
	// Statistics returns what has happened since Open, for monitoring. It does not ask the database.
	Statistics func() Statistics
}

// Statistics is what a process has done since Open, and how its connections are now.
type Statistics struct {
	Connections sql.DBStats // to the database, without those to its standby

	Totals        stats.Totals // as they were counted last, with Config.Totals; zero before
	StoreMaxBytes int64

	PastesCreated   int64 // by users and visitors; not by operators or imports
	PastesSwept     int64
	FailedSweeps    int64
	RejectedSignIns int64
	PendingUses     int // last-used times of tokens that are not stored yet
}

// Open connects to the database that cfg names, creates and migrates it if cfg says so, and returns the use cases
// and a function that stores what is pending and closes the connections. It does not listen on a socket,
// and reads neither flags nor the environment.
//
// It fails with every wrong value of cfg in one error, or with fault.Unavailable when the database does not
// answer, is not there, or lacks migrations (gormstore.ErrOutdated); then, and when ctx ends meanwhile, nothing stays open.
//
// The function that stops must be called once all use cases have returned. It takes no notice of its context's
// end, so that it can be deferred, but ends within a few seconds even when the database hangs: then with an
// error that says what is lost. Calling it again, or at the same time, waits for the first call and returns the same.
func Open(ctx context.Context, cfg Config) (*Application, func(context.Context) error, error) {
	var app *Application
	stop, err := launch(ctx, cfg, fx.Populate(&app))
	if err == nil && !cfg.AllowPendingMigrations {
		if err = app.Ready(ctx); err != nil {
			err = errors.Join(err, stop(ctx))
		}
	}
	if err != nil {
		return nil, nil, err
	}
	return app, stop, nil
}
