package bootstrap

import (
	"time"

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
	"github.com/gluepot/gluepot/domain/paste"
	domainstats "github.com/gluepot/gluepot/domain/stats"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// storeModule binds the database to the ports.
func storeModule() fx.Option {
	return fx.Module("store",
		fx.Provide(
			fx.Annotate(gormstore.NewUsers, as(new(user.Finder), new(user.StaleFinder), new(user.Creator), new(user.Lister), new(user.ServiceFinder),
				new(user.Editor), new(user.Importer))...),
			fx.Annotate(gormstore.NewTokens, as(new(token.Finder), new(token.AccountFinder), new(token.Creator), new(token.UseWriter),
				new(token.OwnerLister), new(token.Revoker), new(token.Importer))...),
			fx.Annotate(gormstore.NewPastes, as(new(paste.Counter), new(paste.OwnerLister), new(paste.ExpiredRemover), new(paste.Creator),
				new(paste.Starrer), new(paste.Unstarrer), new(paste.OwnerReader), new(paste.Deleter), new(paste.Importer))...),
			fx.Annotate(gormstore.NewStats, as(new(domainstats.Counter))...),
		),
	)
}

// as binds what a constructor returns to ports.
func as(ports ...any) []fx.Annotation {
	annotations := make([]fx.Annotation, len(ports))
	for i, port := range ports {
		annotations[i] = fx.As(port)
	}
	return annotations
}

// coreModules are what every entrypoint needs, over a *gormstore.Store.
func coreModules(cfg Config) fx.Option {
	return fx.Options(storeModule(), catalogueModule(), applicationModule(cfg))
}

// catalogueModule binds the language catalogue to the ports.
func catalogueModule() fx.Option {
	return fx.Module("catalogue", fx.Provide(
		catalogue.New,
		func(c *catalogue.Catalogue) (language.Names, language.Extensions) { return c, c },
	))
}

// applicationModule provides every use case.
func applicationModule(cfg Config) fx.Option {
	return fx.Module("application",
		fx.Provide(
			func() func() time.Time { return time.Now },
			users.NewCheckExists, users.NewShowProfile, users.NewShowSelf,
			users.NewCreate, users.NewShow, users.NewList, users.NewUpdate, users.NewDelete,
			tokens.NewIssue, tokens.NewList, tokens.NewRevoke,
			fx.Annotate(tokens.NewUseLog, fx.As(fx.Self()), fx.As(new(token.UseRecorder))),
			pastes.NewListOwn, pastes.NewCountActive,
			func(expired paste.ExpiredRemover) *pastes.Sweep {
				return pastes.NewSweep(expired, cfg.SweepGrace)
			},
			pastes.NewCreate, pastes.NewList, pastes.NewDelete, pastes.NewStar, pastes.NewUnstar,
			stats.NewSum,
			imports.NewUsers, imports.NewKeys, imports.NewPastes,
			languages.NewFindByName, languages.NewFindByExtension,
		),
	)
}
