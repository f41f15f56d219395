package bootstrap

import (
	"context"
	"time"

	"github.com/gluepot/gluepot/adapters/catalogue"
	"github.com/gluepot/gluepot/adapters/dataloader"
	"github.com/gluepot/gluepot/adapters/detection"
	"github.com/gluepot/gluepot/adapters/gormstore"
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

// reads are the stores of each module, with the decorators that are on.
type reads struct {
	users  dataloader.UserStore
	tokens dataloader.TokenStore
	pastes dataloader.PasteStore
}

// newReads decorates a store on PostgreSQL with a dataloader, and with a standby for public profiles.
func newReads(cfg Config, store *gormstore.Store, from standby) *reads {
	r := &reads{
		users: gormstore.NewUsers(store), tokens: gormstore.NewTokens(store), pastes: gormstore.NewPastes(store),
	}
	if store.Pool() == nil {
		return r
	}
	if cfg.Dataloader {
		merged := dataloader.New(store.Pool(), gormstore.Translate)
		r.users, r.tokens, r.pastes = merged.Users(r.users), merged.Tokens(r.tokens), merged.Pastes(r.pastes)
	}
	if from.Store != nil {
		var stale user.StaleFinder = gormstore.NewUsers(from.Store)
		if cfg.Dataloader {
			stale = dataloader.New(from.Pool(), gormstore.Translate).Users(gormstore.NewUsers(from.Store))
		}
		r.users = staleReads{r.users, gormstore.NewStandby(stale, r.users)}
	}
	return r
}

// staleReads sends lookups of users that may be stale elsewhere.
type staleReads struct {
	dataloader.UserStore

	stale *gormstore.Standby
}

// StaleByName implements user.StaleFinder.
func (s staleReads) StaleByName(ctx context.Context, name user.Name) (user.User, error) {
	return s.stale.StaleByName(ctx, name)
}

// StaleByID implements user.StaleFinder.
func (s staleReads) StaleByID(ctx context.Context, id user.ID) (user.User, error) {
	return s.stale.StaleByID(ctx, id)
}

// newApplication gives each module its adapters.
func newApplication(cfg Config, store *gormstore.Store, from standby) *Application {
	reads, known := newReads(cfg, store, from), catalogue.New()
	tokenUseCases := tokens.New(reads.tokens, reads.users, time.Now)
	options := pasteOptions(cfg, known)
	pasteUseCases := pastes.New(reads.pastes, reads.users, options, time.Now)
	var searchUseCases *search.UseCases
	if cfg.Database.Search {
		searchUseCases = search.New(gormstore.NewSearch(store), known)
	}
	statsUseCases := stats.New(gormstore.NewStats(store))
	return &Application{
		Users:      users.New(reads.users, options.AnonymousLifetimes, time.Now),
		Tokens:     tokenUseCases,
		Accounts:   accounts.New(gormstore.NewIdentities(store), reads.users, cfg.Accounts, time.Now),
		Pastes:     pasteUseCases,
		Languages:  languages.New(known),
		Imports:    imports.New(reads.users, reads.tokens, reads.pastes, time.Now),
		Stats:      statsUseCases,
		Moderation: moderation.New(gormstore.NewModeration(store), reads.users, reads.tokens, time.Now),
		Search:     searchUseCases,
		Ready:      store.Ready,
		Statistics: func() Statistics {
			return Statistics{
				Connections:     store.Statistics(),
				Totals:          statsUseCases.Sum.Last(),
				StoreMaxBytes:   cfg.Pastes.MaxBytes,
				PastesCreated:   pasteUseCases.CreateOwn.Created(),
				PastesSwept:     pasteUseCases.Sweep.Removed(),
				FailedSweeps:    pasteUseCases.Sweep.Failures(),
				RejectedSignIns: tokenUseCases.SignIn.Rejections(),
				PendingUses:     tokenUseCases.Uses.Pending(),
			}
		},
	}
}

// pasteOptions completes those of a Config that Validate has checked.
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
