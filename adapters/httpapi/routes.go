package httpapi

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/domain/fault"
)

// endpoint is the handler of a path and method. GET also serves HEAD, and OPTIONS answers the methods of a path.
type endpoint struct {
	method, path string
	handle       gin.HandlerFunc
}

// endpoints are the interface below the base path. handle is for those that use the database, and says how each treats
// the header Authorization, which the others ignore.
func (a *API) endpoints() []endpoint {
	yaml, json := OpenAPI(a.mount + a.cfg.BasePath)
	return []endpoint{
		{http.MethodGet, "/user/:username/exists", a.handle(ignored, a.userExists)},
		{http.MethodGet, "/user/:username", a.handle(ignored, a.userProfile)},
		{http.MethodGet, "/user/self", a.handle(required, a.self)},
		{http.MethodGet, "/user/self/pastes", a.handle(required, a.selfPastes)},
		{http.MethodGet, "/data/language", a.language("name", a.modules.Languages.FindByName.Do)},
		{http.MethodGet, "/data/languageExt", a.language("extension", a.modules.Languages.FindByExtension.Do)},
		{http.MethodGet, "/data/numPastes", a.handle(ignored, a.pasteCount)},
		{http.MethodPost, "/paste", a.handle(voluntary|withBody, a.createPaste)},
		{http.MethodGet, "/paste/:id", a.handle(optional, a.readPaste)},
		{http.MethodPatch, "/paste/:id", a.handle(required|withBody, a.editPaste)},
		{http.MethodDelete, "/paste/:id", a.handle(voluntary, a.deletePaste)},
		{http.MethodPut, "/paste/:id/star", a.handle(required, a.starPaste(true))},
		{http.MethodDelete, "/paste/:id/star", a.handle(required, a.starPaste(false))},
		{http.MethodPost, "/raw", a.createsFromText()},
		{http.MethodPut, "/raw", a.createsFromText()},
		{http.MethodGet, "/raw/:id", a.handle(optional, a.readText)},
		{http.MethodPut, "/raw/:id", a.createsFromText()}, // the "id" is a file's name
		{http.MethodGet, "/raw/:id/:pastyId", a.handle(optional, a.readText)},
		{http.MethodGet, "/raw/:id/:pastyId/:editId", a.handle(optional, a.readText)},
		{http.MethodPost, "/encrypted", a.handle(voluntary|withBody, a.createEncrypted)},
		{http.MethodGet, "/encrypted/:id", a.handle(optional, a.readEncrypted)},
		{http.MethodPost, "/open/:id", a.handle(optional, a.openPaste)},
		{http.MethodGet, "/list/own", a.handle(required, a.listOwn)},
		{http.MethodGet, "/list/starred", a.handle(required, a.listStarred)},
		{http.MethodGet, "/list/user/:username", a.handle(ignored, a.listUser)},
		{http.MethodGet, "/list/recent", a.handle(ignored, a.listRecent)},
		{http.MethodGet, "/list/search", a.handle(optional, a.listSearch)},
		{http.MethodGet, "/time/expiresInToUnixTime", a.handle(ignored, a.expiryTime)},
		{http.MethodGet, "/openapi.yaml", newFixedAnswer([]string{"application/yaml"}, yaml).send},
		{http.MethodGet, "/openapi.json", newFixedAnswer(jsonContentType, json).send},
		{http.MethodGet, "/docs", a.docsFile},
		{http.MethodGet, "/docs/:file", a.docsFile},
	}
}

// methods are those that the router knows: of RFC 9110, 9.3, and RFC 5789. Any other is otherMethod, so that clients
// write no methods of their own into the log, the metrics and traces.
var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	http.MethodOptions,
	http.MethodConnect, http.MethodTrace, otherMethod,
}

const otherMethod = "other"

// route registers the endpoints, the health checks, uploads and the pages, if there are any.
func (a *API) route() {
	a.engine.NoRoute(a.chain(a.admitUnknown, a.nothing)...)
	a.serveEndpoints(a.cfg.BasePath, a.endpoints())
	a.serveEndpoints("", a.healthChecks())
	if a.cfg.Pages == nil {
		front := a.chain(a.admitCall, a.docs[""].send)
		upload := a.orUpload(a.admitCall, a.nothing)
		a.serve("/", byMethod{http.MethodGet: front, http.MethodHead: front, http.MethodPost: upload,
			http.MethodPut: upload}, nil)
		a.serve("/:id", byMethod{http.MethodPut: upload}, nil)
		return
	}
	a.unknown.Secret = func(r *http.Request) (string, bool) { return a.cfg.Pages.SessionSecret(r), false }
	for _, page := range a.cfg.Pages.Routes() {
		a.servePage(page)
		a.pagePaths[page.Path] = true
	}
}

// byMethod are the handlers of a path.
type byMethod map[string]gin.HandlersChain

// serve registers the handlers of a path, with and without a slash at its end. Methods without a handler get others,
// so that the router finds the same pattern for every method. That is also why gin's HandleMethodNotAllowed is not for
// us: for a path that fits two patterns it names the methods of both.
func (a *API) serve(path string, handlers byMethod, others gin.HandlersChain) {
	paths := []string{path, path + "/"}
	if path == "/" {
		paths = paths[:1]
	}
	for _, method := range methods {
		chain, ok := handlers[method]
		if !ok {
			chain = others
		}
		if chain == nil {
			continue
		}
		for _, path := range paths {
			a.engine.Match([]string{method}, path, chain...)
		}
	}
}

// serveEndpoints registers endpoints below a base path.
func (a *API) serveEndpoints(base string, endpoints []endpoint) {
	paths, allowed := make(map[string]byMethod), make(map[string]string)
	for _, e := range endpoints {
		handlers := paths[e.path]
		if handlers == nil {
			handlers = make(byMethod)
			paths[e.path] = handlers
		}
		handlers[e.method] = a.chain(a.admitCall, e.handle)
		allowed[e.path] += e.method + ", "
		if e.method == http.MethodGet {
			handlers[http.MethodHead] = handlers[e.method]
			allowed[e.path] += http.MethodHead + ", "
		}
	}
	for path, handlers := range paths {
		allow := allowed[path] + http.MethodOptions
		handlers[http.MethodOptions] = a.chain(a.admitCall, preflight(allow))
		a.serve(base+path, handlers, a.chain(a.admitCall, a.notAllowed(allow)))
		a.own[firstSegment(base+path)] = true
		a.paths = append(a.paths, servedPath{parameters.ReplaceAllString(base+path, "?*"), allow})
	}
}

// lacksParameter reports whether a parameter of a path is empty, as in /paste//. gin finds a route for such a path.
func lacksParameter(c *gin.Context) bool {
	return slices.ContainsFunc(c.Params, func(p gin.Param) bool { return p.Value == "" })
}

// chain returns what a request for a handler passes. admit applies the limits, before a trace begins.
func (a *API) chain(admit, handle gin.HandlerFunc) gin.HandlersChain {
	return slices.Concat(gin.HandlersChain{admit}, a.cfg.Tracing,
		gin.HandlersChain{gin.CustomRecoveryWithWriter(nil, a.recovered), handle})
}

// isOwn reports whether a request is for what belongs to the interface: a path whose first segment is that of an
// endpoint. Without pages, that is everything.
func (a *API) isOwn(r *http.Request) bool {
	return !strings.HasPrefix(r.URL.Path, "/") || a.cfg.Pages == nil || a.own[firstSegment(r.URL.Path)]
}

func firstSegment(path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return first
}

// admitCall lets a request for an endpoint go on if it is within the limits.
func (a *API) admitCall(c *gin.Context) {
	header := c.Writer.Header()
	header["Vary"] = varyOrigin
	if c.Request.Header["Origin"] != nil { // pages are not shared, as they may show their reader's private data
		maps.Copy(header, shared)
	}
	a.admit(c, presentedToken(c), presentedKey(c) != "")
}

// admitUnknown is for a request that no route fits.
func (a *API) admitUnknown(c *gin.Context) {
	if a.isOwn(c.Request) {
		a.admitCall(c)
	} else {
		a.admitReader(&a.unknown)(c)
	}
}

// admit counts a request that presents a secret, or "", and that tries another one or does not. It ends a request that
// is beyond the limits, or whose path has an escaped slash.
func (a *API) admit(c *gin.Context, secret string, tries bool) {
	route := Route(c)
	if a.limits != nil && route != PathAlive && route != PathReady && c.Request.Method != http.MethodOptions {
		used, refused, retry := a.limits.Admit(c.Request, secret, tries)
		used.Tell(c.Writer.Header())
		if refused != "" {
			a.noteLimit(c, refused, retry)
			a.fail(c, limitErrors[refused])
			return
		}
	}
	if escapedSlash(c.Request.URL) {
		a.nothing(c)
		c.Abort()
	}
}

// The paths of the health checks, outside the base path.
const (
	PathAlive = "/healthz"
	PathReady = "/readyz"
)

func (a *API) healthChecks() []endpoint {
	return []endpoint{
		{http.MethodGet, PathAlive, func(c *gin.Context) { sendJSON(c, healthy) }},
		{http.MethodGet, PathReady, a.handle(ignored, a.readiness)},
	}
}

func (a *API) readiness(ctx context.Context, _ *call) (any, error) {
	if a.draining.Load() {
		return nil, errDraining
	}
	return healthy, a.ready(ctx)
}

// healthy is what both answer. Liveness must not depend on the database.
var healthy = map[string]string{"status": "ok"}

var errDraining = fault.New(fault.Unavailable, "This server is shutting down. Use another.")
