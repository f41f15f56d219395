package bootstrap

import (
	"time"

	"go.uber.org/fx"

	"github.com/gluepot/gluepot/adapters/catalogue"
	"github.com/gluepot/gluepot/adapters/detection"
	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/adapters/linediff"
	"github.com/gluepot/gluepot/application/accounts"
	"github.com/gluepot/gluepot/application/imports"
	"github.com/gluepot/gluepot/application/languages"
	"github.com/gluepot/gluepot/application/moderation"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/search"
	appstats "github.com/gluepot/gluepot/application/stats"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/identity"
	"github.com/gluepot/gluepot/domain/language"
	domainmoderation "github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/notice"
	"github.com/gluepot/gluepot/domain/paste"
	domainsearch "github.com/gluepot/gluepot/domain/search"
	"github.com/gluepot/gluepot/domain/stats"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// Each of these is a feature: its use cases, and the adapters of its ports. fx.As says which ports an adapter is.
var (
	languagesModule = fx.Module("languages", fx.Provide(
		languages.New,
		pastes.NewLanguageResolver,
		fx.Annotate(catalogue.New, fx.As(new(language.Catalogue))),
		fx.Annotate(detection.New, fx.As(new(language.Detector))),
	))
	usersModule = fx.Module("users", fx.Provide(
		newUsers,
		fx.Annotate(newUserStore, fx.As(new(user.Store))),
		fx.Annotate(gormstore.NewIdentities, fx.As(new(identity.Store))),
	))
	tokensModule = fx.Module("tokens", fx.Provide(
		newTokens,
		fx.Annotate(newTokenStore, fx.As(new(token.Store))),
	))
	accountsModule = fx.Module("accounts", fx.Provide(newAccounts))
	pastesModule   = fx.Module("pastes", fx.Provide(
		newPastes,
		newPasteOptions,
		fx.Annotate(newPasteStore, fx.As(new(paste.Store))),
	))
	importsModule    = fx.Module("imports", fx.Provide(imports.New))
	moderationModule = fx.Module("moderation", fx.Provide(
		moderation.New,
		fx.Annotate(gormstore.NewModeration, fx.As(new(domainmoderation.Store))),
	))
	searchModule = fx.Module("search", fx.Provide( // left out where cfg.Database.Search is false
		search.New,
		fx.Annotate(gormstore.NewSearch, fx.As(new(domainsearch.Store))),
	))
	statsModule = fx.Module("stats", fx.Provide(
		appstats.New,
		fx.Annotate(gormstore.NewStats, fx.As(new(stats.Counter))),
	))
)

// applicationModule has what Open returns. So work in the background begins even if the rest of the graph asks for
// nothing.
var applicationModule = fx.Module("application",
	fx.Provide(newApplication, newStatistics),
	fx.Invoke(func(*Application) {}),
)

// Module is the graph of the use cases on the database of cfg, for programs that use fx. It provides *Application, and
// the use cases of each feature, such as *users.UseCases. Its hooks start and stop what Open opens. An invalid cfg
// makes fx.New fail with one error for all wrong values.
//
// Where cfg.Logger is nil, it logs to the *zap.Logger of the graph, if there is one. Where cfg.Database.Tracer is nil,
// it traces with the graph's pgx.QueryTracer.
func Module(cfg Config) fx.Option {
	if err := cfg.Validate(); err != nil {
		return fx.Error(err)
	}
	modules := []fx.Option{
		fx.Provide(func() Config { return cfg }, newLogger, newClock, newNotify, fx.Private),
		storeModule,
		languagesModule, usersModule, tokensModule, accountsModule, pastesModule, importsModule, moderationModule,
		statsModule,
		applicationModule,
	}
	if cfg.Database.Search {
		modules = append(modules, searchModule)
	}
	if cfg.ReadURL != "" {
		modules = append(modules, standbyModule)
	}
	if cfg.Dataloader && gormstore.URL(cfg.Database.URL).IsPostgres() {
		modules = append(modules, dataloaderModule)
	}
	return fx.Module("gluepot", modules...)
}

func newNotify(cfg Config) notice.Func { return cfg.Notify }

func newClock() func() time.Time { return time.Now }

func newUsers(
	cfg Config, store user.Store, identities identity.Store, now func() time.Time,
) *users.UseCases {
	_, visitors, _ := cfg.lifetimes() // which are valid
	return users.New(store, identities, visitors, cfg.Notify, now)
}

func newAccounts(cfg Config, store identity.Store, users user.Store, now func() time.Time) *accounts.UseCases {
	options := cfg.Accounts
	options.Notify = cfg.Notify
	return accounts.New(store, users, options, now)
}

// newPasteOptions completes the paste options of a valid Config.
func newPasteOptions(cfg Config, resolver paste.LanguageResolver) pastes.Options {
	options := cfg.Pastes
	options.Notify = cfg.Notify
	options.Lifetimes, options.AnonymousLifetimes, _ = cfg.lifetimes()
	options.AnonymousQuota = paste.Quota{Pastes: options.AnonymousQuota.Pastes, Window: time.Hour}
	options.Allowance.Rate = paste.Quota{Pastes: options.Allowance.Rate.Pastes, Window: time.Hour, Signed: true}
	options.Rules = paste.Rules{
		Limits: options.Rules.Limits, NewID: ident.New, Language: resolver, Diff: linediff.Unified,
	}
	return options
}
