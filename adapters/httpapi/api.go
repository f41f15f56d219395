// Package httpapi serves the use cases over HTTP, compatible with the PasteMyst v2 API.
//
// API is a plain http.Handler and can be mounted in any server. Server runs it on a socket of its own.
package httpapi

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gin-gonic/gin"
	"go.uber.org/zap"

	"github.com/gluepot/gluepot/application/languages"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/users"
)

// Modules are those whose use cases the endpoints call.
type Modules struct {
	Users     *users.UseCases
	Pastes    *pastes.UseCases
	Languages *languages.UseCases
}

// API answers the seven endpoints and the two health checks.
type API struct {
	engine    *gin.Engine
	modules   Modules
	languages map[string]*languageAnswer // by name
	ready     func(context.Context) error
	draining  atomic.Bool
	deadlines deadlines
	proxies   proxies
	log       *zap.Logger
}

// New returns the interface over the use cases. Of cfg it uses the base path, the request timeout and
// the trusted proxies. ready tells whether what lies behind the use cases is in working order. It fails when
// cfg is not valid.
func New(cfg Config, modules Modules, ready func(context.Context) error, log *zap.Logger) (*API, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	answers, err := encodeLanguages(modules.Languages.List.Do())
	if err != nil {
		return nil, err
	}
	trusted, err := parseProxies(cfg.TrustedProxies)
	if err != nil {
		return nil, err
	}
	api := &API{
		modules: modules, languages: answers, ready: ready,
		deadlines: deadlines{timeout: cfg.RequestTimeout}, proxies: trusted, log: log,
	}
	releaseMode()
	engine := gin.New()
	engine.RedirectTrailingSlash = false
	engine.HandleMethodNotAllowed = true
	if err := engine.SetTrustedProxies(nil); err != nil { // nothing asks gin
		return nil, err
	}
	engine.Use(api.observe, gin.CustomRecoveryWithWriter(nil, api.recovered))
	engine.NoRoute(api.nothingHere)
	engine.NoMethod(func(c *gin.Context) {
		api.problem(c, http.StatusMethodNotAllowed, "This path does not take that method. Use GET or HEAD.")
	})
	api.routes(&engine.RouterGroup, engine.Group(cfg.BasePath))
	api.engine = engine
	return api, nil
}

func (a *API) nothingHere(c *gin.Context) {
	a.problem(c, http.StatusNotFound, "There is nothing at this path.")
}

// routes is the whole interface. Each path answers with and without a slash at its end, and HEAD as GET.
func (a *API) routes(root, base *gin.RouterGroup) {
	get := func(group *gin.RouterGroup, path string, handle gin.HandlerFunc) {
		for _, path := range [...]string{path, path + "/"} {
			group.GET(path, handle)
			group.HEAD(path, handle)
		}
	}
	get(base, "/user/:username/exists", a.handle(a.userExists))
	get(base, "/user/:username", a.handle(a.userProfile))
	get(base, "/user/self", private(a.handle(a.self)))
	get(base, "/user/self/pastes", private(a.handle(a.selfPastes)))
	get(base, "/data/language", a.languageByName)
	get(base, "/data/languageExt", a.languageByExtension)
	get(base, "/data/numPastes", a.handle(a.pasteCount))
	get(root, pathAlive, a.alive)
	get(root, pathReady, a.handle(a.readiness))
}

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.engine.ServeHTTP(w, r) }

// StartDraining makes the readiness check fail from now on, and every answer ask the client to close its connection.
func (a *API) StartDraining() { a.draining.Store(true) }

// escapedSlash reports whether the path has a slash that separates nothing, "%2F" (RFC 3986, 2.2). gin routes by
// the decoded path, in which it looks like any other.
func escapedSlash(path *url.URL) bool {
	return path.RawPath != "" && (strings.Contains(path.RawPath, "%2F") || strings.Contains(path.RawPath, "%2f"))
}

// handle runs an endpoint that may wait for the database, under the request's deadline.
func (a *API) handle(endpoint func(context.Context, *gin.Context) error) gin.HandlerFunc {
	return func(c *gin.Context) {
		ctx, cancel := a.deadlines.context(c.Request.Context())
		defer cancel()
		if err := endpoint(ctx, c); err != nil {
			a.fail(c, err)
		}
	}
}

// releaseMode keeps gin, whose mode is one variable for the whole process, from printing every route.
var releaseMode = sync.OnceFunc(func() { gin.SetMode(gin.ReleaseMode) })
