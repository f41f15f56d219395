package bootstrap

import (
	"context"
	"errors"

	"go.uber.org/fx"

	"github.com/gluepot/gluepot/adapters/catalogue"
	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/application/imports"
	"github.com/gluepot/gluepot/application/languages"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/stats"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/language"
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

// Gluepot is what Open opens.
type Gluepot struct {
	UseCases

	// Catalogue is every language that the service knows.
	Catalogue []*language.Language
	// Ready tells whether the database answers and has every migration. It fails with fault.Unavailable.
	Ready func(context.Context) error
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
func Open(ctx context.Context, cfg Config) (*Gluepot, func(context.Context) error, error) {
	var (
		opened    Gluepot
		store     *gormstore.Store
		languages *catalogue.Catalogue
	)
	stop, err := launch(ctx, cfg, fx.Populate(&store, &languages), fx.Invoke(func(u UseCases) { opened.UseCases = u }))
	if err == nil && !cfg.AllowPendingMigrations {
		if err = store.Ready(ctx); err != nil {
			err = errors.Join(err, stop(ctx))
		}
	}
	if err != nil {
		return nil, nil, err
	}
	opened.Catalogue, opened.Ready = languages.All(), store.Ready
	return &opened, stop, nil
}
