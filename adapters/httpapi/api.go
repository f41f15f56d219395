// Package httpapi serves the use cases over HTTP, compatible with the PasteMyst v2 API.
//
// API is a plain http.Handler and can be mounted in any server. Package server below runs it on a socket of its own.
//
// A new endpoint is a line of API.endpoints.
package httpapi

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
	"go.uber.org/zap"

	"github.com/gluepot/gluepot/adapters/httpapi/limit"
	"github.com/gluepot/gluepot/application/languages"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/application/users"
)

// Modules have the use cases that the endpoints call.
type Modules struct {
	Users     *users.UseCases
	Tokens    *tokens.UseCases
	Pastes    *pastes.UseCases
	Languages *languages.UseCases
}

// API answers the endpoints and the two health checks.
type API struct {
	engine    *gin.Engine
	paths     []servedPath
	modules   Modules
	languages map[string]*fixedAnswer // by name
	docs      map[string]*fixedAnswer // by the name of the file
	ready     func(context.Context) error
	draining  atomic.Bool
	basePath  string
	publicURL string        // or ""
	timeout   time.Duration // of a request that waits for the database
	maxBody   int64         // bytes
	memory    *limit.Memory
	proxies   proxies
	limits    *limit.Limiter
	pages     *pages
	began     func(method, route string) (ended func(status int)) // or nil
	onLimited func(limit string)                                  // or nil
	tracing   bool
	log       *zap.Logger
}

// New returns the interface over the use cases. ready is for the readiness check. It fails when cfg is not valid.
func New(cfg Config, modules Modules, ready func(context.Context) error, log *zap.Logger) (*API, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	trusted, _ := parseProxies(cfg.TrustedProxies) // they are valid
	api := &API{
		modules: modules, languages: encodeLanguages(modules.Languages.List.Do()), ready: ready, basePath: cfg.BasePath, publicURL: cfg.PublicURL,
		timeout: cfg.RequestTimeout, maxBody: int64(cfg.PasteMaxBody), memory: limit.NewMemory(int64(cfg.MaxMemory)),
		limits: limit.New(cfg.Limits), docs: newDocs(cfg.BasePath), proxies: trusted, began: cfg.Observe, onLimited: cfg.OnLimited,
		tracing: len(cfg.Tracing) > 0, log: log,
	}
	releaseMode()
	engine := gin.New()
	engine.RedirectTrailingSlash = false
	_ = engine.SetTrustedProxies(nil) // nothing asks gin
	engine.Use(api.observe)
	engine.Use(cfg.Tracing...)
	engine.Use(gin.CustomRecoveryWithWriter(nil, api.recovered))
	engine.NoRoute(api.unrouted)
	api.serve(engine.Group(cfg.BasePath), api.endpoints(cfg.BasePath))
	api.serve(&engine.RouterGroup, []endpoint{
		{http.MethodGet, PathAlive, alive},
		{http.MethodGet, PathReady, api.handle(ignored, api.readiness)},
	})
	api.pages = newPages(cfg.Pages, api.paths)
	api.engine = engine
	return api, nil
}

// unrouted answers requests without a route. gin's own 405 names wrong methods for a path that fits two patterns
// (HandleMethodNotAllowed, 1.12).
func (a *API) unrouted(c *gin.Context) {
	for _, known := range a.paths {
		if known.fits(c.Request.URL.Path) {
			a.notAllowed(c, known.allowed)
			return
		}
	}
	if pattern := c.GetString(pageKey); pattern != "" {
		a.page(c, pattern)
		return
	}
	if method := c.Request.Method; c.Request.URL.Path == "/" && (method == http.MethodGet || method == http.MethodHead) {
		a.docs[""].send(c) // there are no pages
		return
	}
	a.nothingHere(c)
}

func (a *API) notAllowed(c *gin.Context, allowed string) {
	c.Header("Allow", allowed)
	a.problem(c, http.StatusMethodNotAllowed, "This path does not take that method. The header Allow has those that it takes.")
}

func (a *API) nothingHere(c *gin.Context) {
	a.problem(c, http.StatusNotFound, "There is nothing at this path.")
}

// servedPath is a path that is served.
type servedPath struct {
	segments []string // segments that begin with a colon match any
	allowed  string   // the header Allow
}

// fits reports whether a decoded path is this one, with or without a slash at its end.
func (s servedPath) fits(path string) bool {
	segments := strings.Split(strings.TrimSuffix(path, "/"), "/")
	return slices.EqualFunc(s.segments, segments, func(pattern, segment string) bool {
		return pattern == segment || strings.HasPrefix(pattern, ":") && segment != ""
	})
}

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.engine.ServeHTTP(w, r) }

// StartDraining makes the readiness check fail, and every answer close its connection.
func (a *API) StartDraining() { a.draining.Store(true) }

// escapedSlash reports whether the path contains "%2F", which separates no segments (RFC 3986, 2.2). gin routes by the decoded path
// and cannot tell it from a slash.
func escapedSlash(path *url.URL) bool {
	return strings.Contains(strings.ToLower(path.RawPath), "%2f")
}

// releaseMode keeps gin from printing every route. The mode is global, so it is set once.
var releaseMode = sync.OnceFunc(func() { gin.SetMode(gin.ReleaseMode) })
