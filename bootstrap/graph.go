package bootstrap

import (
	"time"

	"github.com/gluepot/gluepot/adapters/catalogue"
	"github.com/gluepot/gluepot/adapters/detection"
	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/adapters/gormstore/dataloader"
	"github.com/gluepot/gluepot/adapters/linediff"
	"github.com/gluepot/gluepot/application/accounts"
	"github.com/gluepot/gluepot/application/imports"
	"github.com/gluepot/gluepot/application/languages"
	"github.com/gluepot/gluepot/application/moderation"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/search"
	"github.com/gluepot/gluepot/application/stats"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// decorated returns the stores of three modules. On PostgreSQL they have a dataloader, and a standby for public profiles, if cfg says so.
func decorated(cfg Config, store *gormstore.Store, from standby) (
	users dataloader.UserStore, tokens dataloader.TokenStore, pastes dataloader.PasteStore,
) {
	users, tokens, pastes = gormstore.NewUsers(store), gormstore.NewTokens(store), gormstore.NewPastes(store)
	if cfg.Dataloader && store.Pool() != nil {
		merged := dataloader.New(store)
		users, tokens, pastes = merged.Users(users), merged.Tokens(tokens), merged.Pastes(pastes)
	}
	if from.Store != nil {
		var stale user.StaleFinder = gormstore.NewUsers(from.Store)
		if cfg.Dataloader {
			stale = dataloader.New(from.Store).Users(gormstore.NewUsers(from.Store))
		}
		users = dataloader.NewStandby(stale, users)
	}
	return users, tokens, pastes
}

// newApplication gives each module its adapters.
func newApplication(cfg Config, store *gormstore.Store, from standby) *Application {
	userStore, tokenStore, pasteStore := decorated(cfg, store, from)
	known := catalogue.New()
	options := pasteOptions(cfg, known)
	app := &Application{
		Users:      users.New(userStore, options.AnonymousLifetimes, time.Now),
		Tokens:     tokens.New(tokenStore, userStore, time.Now),
		Accounts:   accounts.New(gormstore.NewIdentities(store), userStore, cfg.Accounts, time.Now),
		Pastes:     pastes.New(pasteStore, userStore, options, time.Now),
		Languages:  languages.New(known),
		Imports:    imports.New(userStore, tokenStore, pasteStore, time.Now),
		Stats:      stats.New(gormstore.NewStats(store)),
		Moderation: moderation.New(gormstore.NewModeration(store), userStore, tokenStore, known, time.Now),
		Ready:      store.Ready,
		Analyze:    store.Analyze,
	}
	if cfg.Database.Search {
		app.Search = search.New(gormstore.NewSearch(store), known)
	}
	app.Statistics = func() Statistics {
		return Statistics{
			Connections:     store.Statistics(),
			Totals:          app.Stats.Sum.Last(),
			StoreMaxBytes:   cfg.Pastes.MaxBytes,
			PastesCreated:   app.Pastes.CreateOwn.Created(),
			PastesSwept:     app.Pastes.Sweep.Removed(),
			FailedSweeps:    app.Pastes.Sweep.Failures(),
			RejectedSignIns: app.Tokens.SignIn.Rejections(),
			PendingUses:     app.Tokens.Uses.Pending(),
		}
	}
	return app
}

// pasteOptions completes the paste options of a Config that Validate has checked.
func pasteOptions(cfg Config, known *catalogue.Catalogue) pastes.Options {
	options := cfg.Pastes
	options.Lifetimes, options.AnonymousLifetimes, _ = cfg.lifetimes()
	options.AnonymousQuota = paste.Quota{Pastes: options.AnonymousQuota.Pastes, Window: time.Hour}
	options.Allowance.Rate = paste.Quota{Pastes: options.Allowance.Rate.Pastes, Window: time.Hour, Signed: true}
	options.Rules = paste.Rules{
		Limits:   options.Rules.Limits,
		NewID:    ident.New,
		Language: pastes.NewLanguageResolver(known, known, detection.New(known)),
		Diff:     linediff.Unified,
	}
	return options
}
