package program

import (
	"context"
	"errors"

	"go.uber.org/fx"
	"go.uber.org/zap"

	"github.com/gluepot/gluepot/adapters/git"
	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/adapters/httpapi"
	"github.com/gluepot/gluepot/adapters/httpapi/server"
	"github.com/gluepot/gluepot/adapters/mcp"
	"github.com/gluepot/gluepot/adapters/metrics"
	"github.com/gluepot/gluepot/adapters/pages"
	"github.com/gluepot/gluepot/application/accounts"
	"github.com/gluepot/gluepot/application/languages"
	"github.com/gluepot/gluepot/application/moderation"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/search"
	"github.com/gluepot/gluepot/application/stats"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/identity"
	domainsearch "github.com/gluepot/gluepot/domain/search"
)

// httpModule serves the interface, and the pages if there are any.
var httpModule = fx.Module("http",
	fx.Provide(newAPI, newServer),
	fx.Invoke(func(*server.Server) {}),
)

// apiParams are what the interface stands on.
type apiParams struct {
	fx.In

	Config    config
	Log       *zap.Logger
	Users     *users.UseCases
	Tokens    *tokens.UseCases
	Pastes    *pastes.UseCases
	Languages *languages.UseCases
	Store     *gormstore.Store
	Traces    *traces
	Metrics   *metrics.Metrics `optional:"true"`
	Pages     httpapi.Pages    `optional:"true"`
	Search    *search.UseCases `optional:"true"`
	Beside    []httpapi.Routes `group:"routes"`
	MCP       httpapi.Endpoint `optional:"true"`
}

func newAPI(lifecycle fx.Lifecycle, in apiParams) (*httpapi.API, error) {
	cfg := in.Config.HTTP
	cfg.Tracing, cfg.Pages, cfg.Recent = in.Traces.requests(), in.Pages, in.Config.Site.Recent
	cfg.Beside = in.Beside
	if in.MCP.Post == nil {
		in.MCP = mcp.Off
	}
	cfg.Endpoints = []httpapi.Endpoint{in.MCP}
	if in.Metrics != nil {
		cfg.Observe, cfg.OnLimited = in.Metrics.Begin, in.Metrics.Limited
	}
	lifecycle.Append(fx.StopHook(in.Traces.send)) // after the last request
	if in.Search != nil {
		lifecycle.Append(fx.StartHook(func(ctx context.Context) {
			// A database that lacks migrations may get an index with them.
			if in.Store.Ready(ctx) == nil && errors.Is(in.Search.Find.Check(ctx), domainsearch.ErrNoIndex) {
				in.Log.Warn("search is off", zap.String("reason", fault.MessageOf(domainsearch.ErrNoIndex)))
			}
		}))
	}
	use := httpapi.Modules{
		Users: in.Users, Tokens: in.Tokens, Pastes: in.Pastes, Languages: in.Languages, Search: in.Search,
	}
	return httpapi.New(cfg, use, in.Store.Ready, in.Log)
}

// newServer returns a server that listens when everything else has started, and drains before anything else stops.
func newServer(lifecycle fx.Lifecycle, cfg config, api *httpapi.API, log *zap.Logger) *server.Server {
	s := server.New(cfg.Server, api, log)
	lifecycle.Append(fx.StartStopHook(func(ctx context.Context) error {
		if err := s.Start(ctx); err != nil {
			return err
		}
		log.Info("serving",
			zap.Stringer("address", s.Addr()), zap.String("scheme", cfg.scheme()), zap.String("base_path", cfg.HTTP.BasePath),
			zap.Stringer("database", gormstore.URL(cfg.Database.URL)), zap.String("version", Version()))
		return nil
	}, s.Stop))
	return s
}

// pagesModule is left out where Config.Pages is false.
var pagesModule = fx.Module("pages", fx.Provide(fx.Annotate(newPages, fx.As(new(httpapi.Pages)))))

// gitModule serves repositories beside the pages.
var gitModule = fx.Module("git", fx.Provide(
	fx.Annotate(newGit, fx.As(new(httpapi.Routes)), fx.ResultTags(`group:"routes"`)),
))

func newGit(u *users.UseCases, t *tokens.UseCases, p *pastes.UseCases, l *languages.UseCases) *git.Git {
	return git.New(git.Modules{Users: u, Tokens: t, Pastes: p, Languages: l})
}

// pageParams are what the pages stand on.
type pageParams struct {
	fx.In

	Config     config
	Log        *zap.Logger
	Users      *users.UseCases
	Tokens     *tokens.UseCases
	Accounts   *accounts.UseCases
	Pastes     *pastes.UseCases
	Languages  *languages.UseCases
	Moderation *moderation.UseCases
	Stats      *stats.UseCases
	Store      *gormstore.Store
	Search     *search.UseCases `optional:"true"`
}

func newPages(in pageParams) (*pages.Pages, error) {
	cfg := in.Config.Site
	http := in.Config.HTTP
	cfg.BasePath, cfg.PublicURL, cfg.MaxBody = http.BasePath, http.PublicURL, http.PasteMaxBody
	return pages.New(cfg, pages.Modules{
		Users: in.Users, Tokens: in.Tokens, Accounts: in.Accounts, Pastes: in.Pastes, Languages: in.Languages,
		Search: in.Search, Moderation: in.Moderation, Stats: in.Stats,
	})
}

// mcpModule is left out where Config.MCP is false.
var mcpModule = fx.Module("mcp", fx.Provide(newMCP))

// mcpParams are what the Model Context Protocol stands on.
type mcpParams struct {
	fx.In

	Config config
	Pastes *pastes.UseCases
	Search *search.UseCases `optional:"true"`
}

func newMCP(in mcpParams) httpapi.Endpoint {
	return mcp.Server{
		SiteName: in.Config.Site.SiteName, Version: Version(), Pastes: in.Pastes, Search: in.Search,
	}.Endpoint()
}

// signInModule logs providers that do not answer at the start. They are tried again with each sign-in.
var signInModule = fx.Module("signin", fx.Invoke(func(lifecycle fx.Lifecycle, use *accounts.UseCases, log *zap.Logger) {
	ctx, cancel := context.WithCancel(context.Background())
	warn := func(source identity.Provider) {
		if _, err := source.Begin(ctx, identity.NewProof()); err != nil && ctx.Err() == nil {
			log.Warn("a provider does not answer", zap.String("provider", source.Name), zap.Error(err))
		}
	}
	lifecycle.Append(fx.StartStopHook(func() {
		go func() {
			for _, source := range use.Providers.Do() {
				warn(source)
			}
		}()
	}, cancel))
}))

// setupModule lets the first administrator choose a password, once the server listens. Its link is in the log alone.
var setupModule = fx.Module("setup", fx.Invoke(
	func(lifecycle fx.Lifecycle, cfg config, use *accounts.UseCases, serving *server.Server, log *zap.Logger) {
		lifecycle.Append(fx.StartHook(func(ctx context.Context) {
			if cfg.Accounts.Registration == accounts.Open && cfg.HTTP.Limits.FailedSignIns == 0 {
				log.Warn("everyone may sign up with a password, as often as they like: set GLUEPOT_LIMIT_FAILED_SIGN_INS")
			}
			ctx, cancel := context.WithTimeout(ctx, cfg.HTTP.RequestTimeout)
			defer cancel()
			code, err := use.SetUp.Begin(ctx, audit.Operator())
			switch {
			case errors.Is(err, identity.ErrAdministratorExists):
			case err != nil: // such as a database that lacks migrations
				log.Warn("there is no link for a first administrator: restart when the database is ready", zap.Error(err))
			default:
				log.Warn("there is no administrator: open the link to become the first one, within a day",
					zap.String("link", cfg.origin(serving)+"/setup/"+code))
			}
		}))
	}))

// origin returns the address that people use, or else that of the listening server.
func (c config) origin(serving *server.Server) string {
	if c.HTTP.PublicURL != "" {
		return c.HTTP.PublicURL
	}
	address, err := loopback(serving.Addr().String())
	if err != nil { // a Unix socket
		return ""
	}
	return c.scheme() + "://" + address
}
