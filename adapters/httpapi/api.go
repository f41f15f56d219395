// Package httpapi serves the use cases over HTTP, compatible with the PasteMyst v2 API.
//
// API is a plain http.Handler and can be mounted in any server. Server runs it on a socket of its own.
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

// API answers the endpoints and the two health checks.
type API struct {
	engine      *gin.Engine
	paths       []servedPath
	modules     Modules
	languages   map[string]*languageAnswer // by name
	front       *fixedAnswer
	ready       func(context.Context) error
	draining    atomic.Bool
	deadlines   deadlines
	maxBody     int64 // bytes
	longBodies  longBodies
	answers     answerRoom
	readTimeout time.Duration
	proxies     proxies
	limits      *limits
	pages       *pages
	observers   observers
	onLimited   func(limit string) // or nil
	tracer      RequestTracer      // or nil
	secure      bool               // under a Server, it speaks TLS
	log         *zap.Logger
}

// New returns the interface over the use cases. Of cfg it uses the base path, the request timeout, the limit of bodies, the
// trusted proxies, the pages and, under a Server, the read timeout. ready tells whether what lies behind the use cases is in working
// order. It fails when cfg is not valid.
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
		modules: modules, languages: answers, ready: ready, deadlines: deadlines{timeout: cfg.RequestTimeout},
		maxBody: int64(cfg.PasteMaxBody), limits: newLimits(cfg.Limits, steady), longBodies: newLongBodies(),
		readTimeout: cfg.ReadTimeout, proxies: trusted, onLimited: cfg.OnLimited, tracer: cfg.Tracer, secure: cfg.Secure(), log: log,
	}
	if api.front, err = newFront(cfg.BasePath); err != nil {
		return nil, err
	}
	docs, err := newDocs(cfg.BasePath)
	if err != nil {
		return nil, err
	}
	releaseMode()
	engine := gin.New()
	engine.RedirectTrailingSlash = false
	if err := engine.SetTrustedProxies(nil); err != nil { // nothing asks gin
		return nil, err
	}
	engine.Use(api.observe, gin.CustomRecoveryWithWriter(nil, api.recovered))
	engine.NoRoute(api.unrouted)
	api.routes(&engine.RouterGroup, engine.Group(cfg.BasePath), docs)
	api.pages = newPages(cfg.Pages, api.paths)
	api.observers = observersOf(cfg.Observe, slices.Concat(api.paths, api.pages.paths()))
	api.engine = engine
	return api, nil
}

// unrouted answers where no path has the method. gin cannot: of a path that two patterns fit, it names methods of others
// (HandleMethodNotAllowed, 1.12).
func (a *API) unrouted(c *gin.Context) {
	for _, known := range a.paths {
		if known.fits(c.Request.URL.Path) {
			a.notAllowed(c, known.allowed)
			return
		}
	}
	if pattern := a.pages.route(c.Request.URL.Path); pattern != "" {
		a.page(c, pattern)
		return
	}
	if showsFront(c.Request) {
		a.front.answer(c)
		return
	}
	a.nothingHere(c)
}

func (a *API) notAllowed(c *gin.Context, allowed []string) {
	c.Writer.Header()["Allow"] = allowed
	a.problem(c, http.StatusMethodNotAllowed, "This path does not take that method. The header Allow has those that it takes.")
}

const messageNothingHere = "There is nothing at this path."

func (a *API) nothingHere(c *gin.Context) { a.problem(c, http.StatusNotFound, messageNothingHere) }

// methods are those that a path takes. HEAD is as GET, and OPTIONS says which there are.
type methods struct{ get, post, patch, delete gin.HandlerFunc }

// servedPath is a path that is served.
type servedPath struct {
	segments []string // those that begin with a colon stand for any
	allowed  []string // the header Allow
}

// fits reports whether a decoded path is this one, with or without a slash at its end.
func (s servedPath) fits(path string) bool {
	segments := strings.Split(strings.TrimSuffix(path, "/"), "/")
	return slices.EqualFunc(s.segments, segments, func(pattern, segment string) bool {
		return pattern == segment || strings.HasPrefix(pattern, ":") && segment != ""
	})
}

// route adds a path, with and without a slash at its end.
func (a *API) route(group *gin.RouterGroup, path string, m methods) {
	var allowed []string
	for _, taken := range []struct {
		method string
		handle gin.HandlerFunc
	}{
		{http.MethodGet, m.get},
		{http.MethodHead, m.get},
		{http.MethodPost, m.post},
		{http.MethodPatch, m.patch},
		{http.MethodDelete, m.delete},
	} {
		if taken.handle != nil {
			allowed = append(allowed, taken.method)
			group.Handle(taken.method, path, taken.handle)
			group.Handle(taken.method, path+"/", taken.handle)
		}
	}
	served := servedPath{
		segments: strings.Split(strings.TrimSuffix(group.BasePath(), "/")+path, "/"),
		allowed:  []string{strings.Join(append(allowed, http.MethodOptions), ", ")},
	}
	a.paths = append(a.paths, served)
	options := preflight(served.allowed)
	group.OPTIONS(path, options)
	group.OPTIONS(path+"/", options)
}

// routes is the whole interface.
func (a *API) routes(root, base *gin.RouterGroup, docs *docs) {
	a.route(base, "/user/:username/exists", methods{get: a.handle(a.userExists)})
	a.route(base, "/user/:username", methods{get: a.handle(a.userProfile)})
	a.route(base, "/user/self", methods{get: a.private(a.handle(a.self))})
	a.route(base, "/user/self/pastes", methods{get: a.private(a.handle(a.selfPastes))})
	a.route(base, "/data/language", methods{get: a.languageByName})
	a.route(base, "/data/languageExt", methods{get: a.languageByExtension})
	a.route(base, "/data/numPastes", methods{get: a.handle(a.pasteCount)})
	a.route(base, "/paste", methods{post: a.private(a.accept(a.createPaste))})
	a.route(base, "/paste/:id", methods{
		get: a.handle(a.readPaste), patch: a.private(a.accept(a.editPaste)), delete: a.private(a.handle(a.deletePaste)),
	})
	a.route(base, "/raw", methods{post: a.private(a.accept(a.createFromText))})
	a.route(base, "/raw/:id/:pastyId", methods{get: a.handle(a.readText)})
	a.route(base, "/time/expiresInToUnixTime", methods{get: a.expiryTime})
	yaml, json := sharedOpenAPI(strings.TrimSuffix(base.BasePath(), "/"))
	a.route(base, "/openapi.yaml", methods{get: newFixedAnswer(yamlContentType, yaml).answer})
	a.route(base, "/openapi.json", methods{get: newFixedAnswer(jsonContentType, json).answer})
	a.route(base, "/docs", methods{get: docs.page.answer})
	a.route(base, "/docs/:file", methods{get: a.handle(docs.file)})
	a.route(root, PathAlive, methods{get: a.alive})
	a.route(root, PathReady, methods{get: a.handle(a.readiness)})
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
