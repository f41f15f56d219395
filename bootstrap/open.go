package bootstrap

import (
	"context"

	"go.uber.org/dig"
	"go.uber.org/fx"
	"go.uber.org/zap"

	"github.com/gluepot/gluepot/adapters/httpapi"
	"github.com/gluepot/gluepot/application/imports"
	"github.com/gluepot/gluepot/application/languages"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/stats"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/application/users"
)

// UseCases is everything that an entrypoint can ask for.
type UseCases struct {
	fx.In

	CheckUserExists *users.CheckExists
	ShowProfile     *users.ShowProfile
	ShowSelf        *users.ShowSelf
	CreateUser      *users.Create
	ShowUser        *users.Show
	ListUsers       *users.List
	UpdateUser      *users.Update
	DeleteUser      *users.Delete

	IssueToken  *tokens.Issue
	ListTokens  *tokens.List
	RevokeToken *tokens.Revoke

	ListOwnPastes     *pastes.ListOwn
	CountActivePastes *pastes.CountActive
	CreatePaste       *pastes.Create
	ListPastes        *pastes.List
	DeletePaste       *pastes.Delete
	StarPaste         *pastes.Star
	UnstarPaste       *pastes.Unstar
	SweepPastes       *pastes.Sweep

	Sum *stats.Sum

	ImportUsers  *imports.Users
	ImportKeys   *imports.Keys
	ImportPastes *imports.Pastes

	FindLanguageByName      *languages.FindByName
	FindLanguageByExtension *languages.FindByExtension
}

// Open connects to the database that cfg names, migrates it if cfg says so, and returns the use cases
// and a function that stores what is pending and closes the connections. It neither listens on a socket
// nor sweeps, and reads neither flags nor the environment.
//
// It fails with every wrong value of cfg in one error, or with fault.Unavailable when the database does not answer.
func Open(ctx context.Context, cfg Config) (*UseCases, func(context.Context) error, error) {
	var opened UseCases
	stop, err := open(ctx, cfg, fx.Invoke(func(u UseCases) { opened = u }))
	if err != nil {
		return nil, nil, err
	}
	return &opened, stop, nil
}

// OpenHandler is Open for servers of another kind: it returns the HTTP interface, to be mounted at
// cfg.HTTP.BasePath of any server. Of cfg.HTTP only the base path, the request timeout and the trusted
// proxies count. Call StartDraining before the server stops, to make the readiness check fail.
func OpenHandler(ctx context.Context, cfg Config, log *zap.Logger) (*httpapi.API, func(context.Context) error, error) {
	var api *httpapi.API
	stop, err := open(ctx, cfg, fx.Supply(log), apiModule(cfg), fx.Populate(&api))
	if err != nil {
		return nil, nil, err
	}
	return api, stop, nil
}

func open(ctx context.Context, cfg Config, options ...fx.Option) (func(context.Context) error, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	app := fx.New(fx.NopLogger, coreModules(cfg), fx.Options(options...))
	if err := start(ctx, app); err != nil {
		return nil, err
	}
	return app.Stop, nil
}

// start starts app. When that fails, it returns the cause without the graph around it.
func start(ctx context.Context, app *fx.App) error {
	if err := app.Err(); err != nil {
		return dig.RootCause(err)
	}
	return app.Start(ctx)
}
