// Package httpapi serves the use cases over HTTP, compatible with the PasteMyst v2 API.
//
// API is an http.Handler that any server can mount. Package server runs it on a socket of its own.
//
// Each endpoint is a line of API.endpoints. Pages for people are on the same router: see API.route.
package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gin-gonic/gin"
	"go.uber.org/zap"

	"github.com/gluepot/gluepot/adapters/httpapi/limit"
	"github.com/gluepot/gluepot/adapters/internal/route"
	"github.com/gluepot/gluepot/application/languages"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/search"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/application/users"
)

// Modules has the use cases that the endpoints call.
type Modules struct {
	Users     *users.UseCases
	Tokens    *tokens.UseCases
	Pastes    *pastes.UseCases
	Languages *languages.UseCases
	Search    *search.UseCases // or nil
}

// API answers the endpoints and the two health checks.
type API struct {
	cfg           Config
	mount         string // the path of the public URL, or ""
	engine        *gin.Engine
	apiSegments   map[string]bool // the first segments of the endpoints' paths
	pagePaths     map[string]bool // such as /pastes
	endpointPaths []endpointPath  // of endpoints
	unknown       route.Page      // stands for the paths without a route
	modules       Modules
	languages     map[string]*fixedAnswer // by name
	docs          map[string]*fixedAnswer // by the name of the file
	ready         func(context.Context) error
	draining      atomic.Bool
	memory        *limit.Memory
	proxies       proxies
	limits        *limit.Limiter
	log           *zap.Logger

	origins     http.CrossOriginProtection
	warnOfHTTP  func()              // once
	warnOfProxy func(client string) // once
}

// New returns the API over the use cases of modules. ready is the readiness check. A nil log logs nothing. New fails if
// cfg is invalid or modules are missing, and names them.
func New(cfg Config, modules Modules, ready func(context.Context) error, log *zap.Logger) (*API, error) {
	var missing []string
	for _, dependency := range []struct {
		name  string
		isNil bool
	}{
		{"Modules.Users", modules.Users == nil},
		{"Modules.Tokens", modules.Tokens == nil},
		{"Modules.Pastes", modules.Pastes == nil},
		{"Modules.Languages", modules.Languages == nil},
		{"ready", ready == nil},
	} {
		if dependency.isNil {
			missing = append(missing, dependency.name)
		}
	}
	if missing != nil {
		return nil, fmt.Errorf("httpapi.New lacks %s", strings.Join(missing, ", "))
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if log == nil {
		log = zap.NewNop()
	}
	proxies, _ := parseProxies(cfg.TrustedProxies) // Validate has parsed them
	releaseMode()
	origin, mount := cfg.split()
	api := &API{
		cfg: cfg, mount: mount, engine: gin.New(), modules: modules, ready: ready, proxies: proxies, log: log,
		apiSegments: make(map[string]bool),
		pagePaths:   make(map[string]bool),
		languages:   encodeLanguages(modules.Languages.List.Do()),
		docs:        newDocs(mount, cfg.BasePath, cfg.Pages != nil),
		limits:      limit.New(cfg.Limits),
		memory:      limit.NewMemory(int64(cfg.MaxMemory), bodyFactor*int64(cfg.PasteMaxBody)),
	}
	api.warnOfHTTP = sync.OnceFunc(func() {
		log.Warn("requests arrive as http although the public URL is https: cookies are Secure all the same; " +
			"if a proxy speaks TLS, name it in GLUEPOT_HTTP_TRUSTED_PROXIES and let it set X-Forwarded-Proto")
	})
	var once sync.Once
	api.warnOfProxy = func(client string) {
		once.Do(func() {
			log.Warn("X-Forwarded-For comes from an address that is not trusted, and is ignored: "+
				"if it is that of your proxy, name it in GLUEPOT_HTTP_TRUSTED_PROXIES; "+
				"otherwise all its clients share the limits of one address", zap.String("client", client))
		})
	}
	if origin != "" {
		_ = api.origins.AddTrustedOrigin(origin) // it is valid; a proxy may ask for another host
	}
	api.engine.RedirectTrailingSlash = false
	_ = api.engine.SetTrustedProxies(nil) // proxies.client finds the client's address, not gin
	api.engine.Use(api.observe)
	api.route()
	return api, nil
}

// notFound answers a request for an unknown path. A preflight request succeeds, so that the calling page can read the
// 404 of the request that follows.
func (a *API) notFound(c *gin.Context) {
	if c.Request.Method == http.MethodOptions && c.GetHeader("Access-Control-Request-Method") != "" && pageOf(c) == nil {
		preflight(allMethods)(c)
		return
	}
	a.fail(c, errNotFound)
}

// methodNotAllowed answers a request whose path does not take its method.
func (a *API) methodNotAllowed(allowed string) gin.HandlerFunc {
	return func(c *gin.Context) {
		if lacksParameter(c) {
			a.notFound(c)
			return
		}
		c.Header("Allow", allowed)
		a.problem(c, typeNone, http.StatusMethodNotAllowed,
			"This path does not take that method. The Allow header lists the methods that it takes.")
	}
}

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !slices.Contains(methods, r.Method) {
		clone := *r
		r, clone.Method = &clone, otherMethod
	}
	a.engine.ServeHTTP(w, a.mounted(r))
}

// StartDraining makes the readiness check fail, and every answer close its connection.
func (a *API) StartDraining() { a.draining.Store(true) }

// escapedSlash reports whether a path contains "%2F", which does not separate segments (RFC 3986, 2.2). gin routes by
// the decoded path and cannot tell it from a slash.
func escapedSlash(path *url.URL) bool {
	return strings.Contains(strings.ToLower(path.RawPath), "%2f")
}

// releaseMode keeps gin from printing every route. gin's mode is global, so it is set once.
var releaseMode = sync.OnceFunc(func() { gin.SetMode(gin.ReleaseMode) })
