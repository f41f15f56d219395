package bootstrap

import (
	"context"
	"errors"

	"go.uber.org/fx"
	"go.uber.org/zap"

	"github.com/gluepot/gluepot/adapters/gormstore"
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

// Open connects to the database that cfg names, creates and migrates it if cfg says so, and returns the use cases
// and a function that stores what is pending and closes the connections. It neither listens on a socket
// nor sweeps, and reads neither flags nor the environment.
//
// It fails with every wrong value of cfg in one error, or with fault.Unavailable when the database does not
// answer, is not there, or lacks migrations (gormstore.ErrOutdated); then, and when ctx ends meanwhile, nothing stays open.
//
// The function that stops must be called once all use cases have returned. It takes no notice of its context's
// end, so that it can be deferred, but ends within a few seconds even when the database hangs: then with an
// error that says what is lost. Calling it again, or at the same time, waits for the first call and returns the same.
func Open(ctx context.Context, cfg Config) (*UseCases, func(context.Context) error, error) {
	var (
		opened UseCases
		store  *gormstore.Store
	)
	stop, err := launch(ctx, cfg, fx.Supply(zap.NewNop()), fx.Populate(&store), fx.Invoke(func(u UseCases) { opened = u }))
	if err == nil {
		if err = store.Ready(ctx); err != nil { // there is no readiness check that would say so
			err = errors.Join(err, stop(ctx))
		}
	}
	if err != nil {
		return nil, nil, err
	}
	return &opened, stop, nil
}

// OpenHandler is Open for servers of another kind: it returns the HTTP interface, to be mounted at
// cfg.HTTP.BasePath of any server. Of cfg.HTTP only the base path, the request timeout and the trusted
// proxies count. Call StartDraining before the server stops, to make the readiness check fail, and the
// function that stops, as Open's, after it has. A database that lacks migrations is no error here: the readiness
// check says so.
func OpenHandler(ctx context.Context, cfg Config, log *zap.Logger) (*httpapi.API, func(context.Context) error, error) {
	var api *httpapi.API
	stop, err := launch(ctx, cfg, fx.Supply(log), apiModule(cfg), fx.Populate(&api))
	if err != nil {
		return nil, nil, err
	}
	return api, stop, nil
}
