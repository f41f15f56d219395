// Package httpapi serves the use cases over HTTP, compatible with the PasteMyst v2 API.
//
// API is a plain http.Handler and can be mounted in any server. Package server below runs it on a socket of its own.
//
// A new endpoint is a line of API.endpoints. Pages for people register their paths on the same router: see API.route.
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

// Modules have the use cases that the endpoints call.
type Modules struct {
	Users     *users.UseCases
	Tokens    *tokens.UseCases
	Pastes    *pastes.UseCases
	Languages *languages.UseCases
	Search    *search.UseCases // or nil
}

// API answers the endpoints and the two health checks.
type API struct {
	cfg       Config
	mount     string // the path of the public URL, or ""
	engine    *gin.Engine
	own       map[string]bool // the first segments of the paths of endpoints
	pagePaths map[string]bool // such as /pastes
	paths     []servedPath    // of endpoints
	unknown   route.Page      // stands for paths that no route fits
	modules   Modules
	languages map[string]*fixedAnswer // by name
	docs      map[string]*fixedAnswer // by the name of the file
	ready     func(context.Context) error
	draining  atomic.Bool
	memory    *limit.Memory
	proxies   proxies
	limits    *limit.Limiter
	log       *zap.Logger

	origins     http.CrossOriginProtection
	warnOfHTTP  func()              // once
	warnOfProxy func(client string) // once
}

// New returns the interface over the use cases. ready is for the readiness check. Without log, nothing is logged. It
// fails when cfg is not valid, and names the modules that are missing.
func New(cfg Config, modules Modules, ready func(context.Context) error, log *zap.Logger) (*API, error) {
	var missing []string
	for _, needed := range []struct {
		name  string
		isNil bool
	}{
		{"Modules.Users", modules.Users == nil}, {"Modules.Tokens", modules.Tokens == nil},
		{"Modules.Pastes", modules.Pastes == nil}, {"Modules.Languages", modules.Languages == nil}, {"ready", ready == nil},
	} {
		if needed.isNil {
			missing = append(missing, needed.name)
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
	trusted, _ := parseProxies(cfg.TrustedProxies) // they are valid
	releaseMode()
	origin, mount := cfg.split()
	api := &API{
		cfg: cfg, mount: mount, engine: gin.New(), modules: modules, languages: encodeLanguages(modules.Languages.List.Do()),
		docs:  newDocs(mount, cfg.BasePath, cfg.Pages != nil),
		ready: ready, proxies: trusted, limits: limit.New(cfg.Limits), log: log, own: make(map[string]bool),
		pagePaths: make(map[string]bool),
		memory:    limit.NewMemory(int64(cfg.MaxMemory), bodyFactor*int64(cfg.PasteMaxBody)),
	}
	api.warnOfHTTP = sync.OnceFunc(func() {
		log.Warn("requests arrive as http although the public URL is https: cookies are Secure all the same; " +
			"if a proxy speaks TLS, name it in GLUEPOT_HTTP_TRUSTED_PROXIES and let it set X-Forwarded-Proto")
	})
	var warned sync.Once
	api.warnOfProxy = func(client string) {
		warned.Do(func() {
			log.Warn("X-Forwarded-For comes from an address that is not trusted, and is ignored: if it is that of your proxy, name it in "+
				"GLUEPOT_HTTP_TRUSTED_PROXIES; otherwise all its clients share the limits of one address",
				zap.String("client", client))
		})
	}
	if origin != "" {
		_ = api.origins.AddTrustedOrigin(origin) // which is valid; a proxy may ask for another host
	}
	api.engine.RedirectTrailingSlash = false
	_ = api.engine.SetTrustedProxies(nil) // nothing asks gin
	api.engine.Use(api.observe)
	api.route()
	return api, nil
}

// nothing answers a request for an unknown path. A browser may go on after its preflight, so that the calling page can
// read the 404.
func (a *API) nothing(c *gin.Context) {
	if c.Request.Method == http.MethodOptions && c.GetHeader("Access-Control-Request-Method") != "" && pageOf(c) == nil {
		preflight(allMethods)(c)
		return
	}
	a.fail(c, errNothing)
}

// notAllowed answers a request with a method that its path does not take.
func (a *API) notAllowed(allowed string) gin.HandlerFunc {
	return func(c *gin.Context) {
		if lacksParameter(c) {
			a.nothing(c)
			return
		}
		c.Header("Allow", allowed)
		a.problem(c, typeNone, http.StatusMethodNotAllowed,
			"This path does not take that method. The header Allow has those that it takes.")
	}
}

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !slices.Contains(methods, r.Method) {
		copied := *r
		r, copied.Method = &copied, otherMethod
	}
	a.engine.ServeHTTP(w, a.mounted(r))
}

// StartDraining makes the readiness check fail, and every answer close its connection.
func (a *API) StartDraining() { a.draining.Store(true) }

// escapedSlash reports whether the path contains "%2F", which separates no segments (RFC 3986, 2.2). gin routes by the
// decoded path and cannot tell it from a slash.
func escapedSlash(path *url.URL) bool {
	return strings.Contains(strings.ToLower(path.RawPath), "%2f")
}

// releaseMode keeps gin from printing every route. The mode is global, so it is set once.
var releaseMode = sync.OnceFunc(func() { gin.SetMode(gin.ReleaseMode) })
