package bootstrap

import (
	"time"

	"go.uber.org/fx"

	"github.com/gluepot/gluepot/adapters/catalogue"
	"github.com/gluepot/gluepot/adapters/detection"
	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/adapters/linediff"
	"github.com/gluepot/gluepot/application/imports"
	"github.com/gluepot/gluepot/application/languages"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/stats"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
)

// graph is everything that can be built over a *gormstore.Store.
func graph(cfg Config) fx.Option {
	return fx.Provide(
		gormstore.NewUsers, gormstore.NewTokens, gormstore.NewPastes, gormstore.NewStats,
		catalogue.New,
		func(a adapters) *Application { return newApplication(cfg, a) },
	)
}

// adapters are what implements the ports of application's modules.
type adapters struct {
	fx.In

	Store     *gormstore.Store
	Users     *gormstore.Users
	Tokens    *gormstore.Tokens
	Pastes    *gormstore.Pastes
	Stats     *gormstore.Stats
	Catalogue *catalogue.Catalogue
}

// newApplication says which adapters serve which module. They are handed over as what they are, and each module takes
// the ports that it needs of them (decision 0027).
func newApplication(cfg Config, a adapters) *Application {
	tokenUseCases := tokens.New(a.Tokens, a.Users, time.Now)
	signIn := token.NewAuthenticator(tokenUseCases.Uses, time.Now)
	pasteUseCases := pastes.New(a.Pastes, a.Users, a.Tokens, signIn, pasteOptions(cfg, a.Catalogue), time.Now)
	return &Application{
		Users:     users.New(a.Users, a.Tokens, signIn, time.Now),
		Tokens:    tokenUseCases,
		Pastes:    pasteUseCases,
		Languages: languages.New(a.Catalogue),
		Imports:   imports.New(a.Users, a.Tokens, a.Pastes, time.Now),
		Stats:     stats.New(a.Stats),
		Ready:     a.Store.Ready,
		Statistics: func() Statistics {
			return Statistics{
				Database:        a.Store.Statistics(),
				PastesCreated:   pasteUseCases.CreateOwn.Created(),
				PastesSwept:     pasteUseCases.Sweep.Removed(),
				FailedSweeps:    pasteUseCases.Sweep.Failures(),
				RejectedSignIns: signIn.Rejections(),
				PendingUses:     tokenUseCases.Uses.Pending(),
			}
		},
	}
}

func pasteOptions(cfg Config, known *catalogue.Catalogue) pastes.Options {
	return pastes.Options{
		Rules: paste.Rules{
			Limits:   cfg.Pastes,
			NewID:    ident.New,
			Language: pastes.NewLanguageResolver(known, detection.New(known, known)),
			Diff:     linediff.Unified,
		},
		TokenRequired:  !cfg.PasteAnonymous,
		AnonymousQuota: paste.Quota{Pastes: cfg.LimitAnonymousPastes, Window: time.Hour},
		SweepGrace:     cfg.SweepGrace,
	}
}
