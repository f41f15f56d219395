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

// endpoint is the handler of a method and a path. GET also serves HEAD. OPTIONS lists the methods of a path.
type endpoint struct {
	method, path string
	handle       gin.HandlerFunc
}

// endpoints returns the endpoints below the base path. Those that use the database are made by handle, which takes
// their authMode. The others ignore the Authorization header.
func (a *API) endpoints() []endpoint {
	yaml, json := OpenAPI(a.mount + a.cfg.BasePath)
	return []endpoint{
		{http.MethodGet, "/user/:username/exists", a.handle(authIgnored, a.userExists)},
		{http.MethodGet, "/user/:username", a.handle(authIgnored, a.userProfile)},
		{http.MethodGet, "/user/self", a.handle(authRequired, a.self)},
		{http.MethodGet, "/user/self/pastes", a.handle(authRequired, a.selfPastes)},
		{http.MethodGet, "/data/language", a.language("name", a.modules.Languages.FindByName.Do)},
		{http.MethodGet, "/data/languageExt", a.language("extension", a.modules.Languages.FindByExtension.Do)},
		{http.MethodGet, "/data/numPastes", a.handle(authIgnored, a.pasteCount)},
		{http.MethodPost, "/paste", a.handleBody(authOptional, a.createPaste)},
		{http.MethodGet, "/paste/:id", a.handle(authLenient, a.readPaste)},
		{http.MethodPatch, "/paste/:id", a.handleBody(authRequired, a.editPaste)},
		{http.MethodDelete, "/paste/:id", a.handle(authOptional, a.deletePaste)},
		{http.MethodPut, "/paste/:id/star", a.handle(authRequired, a.starPaste(true))},
		{http.MethodDelete, "/paste/:id/star", a.handle(authRequired, a.starPaste(false))},
		{http.MethodPost, "/raw", a.createsFromText()},
		{http.MethodPut, "/raw", a.createsFromText()},
		{http.MethodGet, "/raw/:id", a.handle(authLenient, a.readText)},
		{http.MethodPut, "/raw/:id", a.createsFromText()}, // the "id" is a file's name
		{http.MethodGet, "/raw/:id/:pastyId", a.handle(authLenient, a.readText)},
		{http.MethodGet, "/raw/:id/:pastyId/:editId", a.handle(authLenient, a.readText)},
		{http.MethodPost, "/encrypted", a.handleBody(authOptional, a.createEncrypted)},
		{http.MethodGet, "/encrypted/:id", a.handle(authLenient, a.readEncrypted)},
		{http.MethodPost, "/open/:id", a.handle(authLenient, a.openPaste)},
		{http.MethodGet, "/list/own", a.handle(authRequired, a.listOwn)},
		{http.MethodGet, "/list/starred", a.handle(authRequired, a.listStarred)},
		{http.MethodGet, "/list/user/:username", a.handle(authIgnored, a.listUser)},
		{http.MethodGet, "/list/recent", a.handle(authIgnored, a.listRecent)},
		{http.MethodGet, "/list/search", a.handle(authLenient, a.listSearch)},
		{http.MethodGet, "/time/expiresInToUnixTime", a.handle(authIgnored, a.expiryTime)},
		{http.MethodGet, "/openapi.yaml", newFixedAnswer([]string{"application/yaml"}, yaml).send},
		{http.MethodGet, "/openapi.json", newFixedAnswer(jsonContentType, json).send},
		{http.MethodGet, "/docs", a.docsFile},
		{http.MethodGet, "/docs/:file", a.docsFile},
	}
}

// methods are the methods of RFC 9110, 9.3, and RFC 5789. Any other becomes otherMethod, so that clients cannot put
// text of their own into the log, metrics and traces.
var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	http.MethodOptions, http.MethodConnect, http.MethodTrace, otherMethod,
}

const otherMethod = "other"

// route registers the endpoints, the health checks, uploads and the pages, if there are any.
func (a *API) route() {
	a.engine.NoRoute(a.chain(a.admitUnknown, a.notFound)...)
	a.serveEndpoints(a.cfg.BasePath, a.endpoints())
	a.serveEndpoints("", a.healthChecks())
	for _, e := range a.cfg.Endpoints {
		if e.Post == nil {
			a.serve(e.Path, byMethod{http.MethodPost: a.chain(a.admitUnknown, a.notFound)}, nil)
			continue
		}
		handle := a.handleBody(authAnyScope, a.foreign(e))
		a.serveEndpoints("", []endpoint{{http.MethodPost, e.Path, handle}}, e.Headers...)
	}
	if a.cfg.Pages == nil {
		front := a.chain(a.admitCall, a.docs[""].send)
		upload := a.orUpload(a.admitCall, a.notFound)
		a.serve("/", byMethod{
			http.MethodGet: front, http.MethodHead: front, http.MethodPost: upload, http.MethodPut: upload,
		}, nil)
		a.serve("/:id", byMethod{http.MethodPut: upload}, nil)
		return
	}
	a.unknown.Secret = func(r *http.Request) (string, bool) { return a.cfg.Pages.SessionSecret(r), false }
	for _, adapter := range append([]Routes{a.cfg.Pages}, a.cfg.Beside...) {
		for _, page := range adapter.Routes() {
			a.servePage(page)
			a.pagePaths[page.Path] = true
		}
	}
}

// byMethod has the handlers of a path.
type byMethod map[string]gin.HandlersChain

// serve registers the handlers of a path, with and without a trailing slash. Methods without a handler get others, so
// that every method matches the same pattern. gin's HandleMethodNotAllowed does not do: for a path that matches two
// patterns it lists the methods of both.
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

// serveEndpoints registers endpoints below a base path. Browsers may send extra headers to them.
func (a *API) serveEndpoints(base string, endpoints []endpoint, extra ...string) {
	paths, allowedByPath := make(map[string]byMethod), make(map[string]string)
	for _, e := range endpoints {
		handlers := paths[e.path]
		if handlers == nil {
			handlers = make(byMethod)
			paths[e.path] = handlers
		}
		handlers[e.method] = a.chain(a.admitCall, e.handle)
		allowedByPath[e.path] += e.method + ", "
		if e.method == http.MethodGet {
			handlers[http.MethodHead] = handlers[e.method]
			allowedByPath[e.path] += http.MethodHead + ", "
		}
	}
	for path, handlers := range paths {
		allowed := allowedByPath[path] + http.MethodOptions
		handlers[http.MethodOptions] = a.chain(a.admitCall, preflight(allowed, extra...))
		a.serve(base+path, handlers, a.chain(a.admitCall, a.methodNotAllowed(allowed)))
		a.apiSegments[firstSegment(base+path)] = true
		a.endpointPaths = append(a.endpointPaths, endpointPath{parameters.ReplaceAllString(base+path, "?*"), allowed})
	}
}

// lacksParameter reports whether a parameter of the path is empty, as in /paste//, which gin routes, too.
func lacksParameter(c *gin.Context) bool {
	return slices.ContainsFunc(c.Params, func(p gin.Param) bool { return p.Value == "" })
}

// chain returns the handlers of a route: admit, which applies the limits before a trace begins, the middleware, and
// handle.
func (a *API) chain(admit, handle gin.HandlerFunc) gin.HandlersChain {
	return slices.Concat(gin.HandlersChain{admit}, a.cfg.Tracing,
		gin.HandlersChain{gin.CustomRecoveryWithWriter(nil, a.recoverPanic), handle})
}

// isAPIPath reports whether a request's path belongs to the API: its first segment is an endpoint's. Without pages, all
// paths do.
func (a *API) isAPIPath(r *http.Request) bool {
	return !strings.HasPrefix(r.URL.Path, "/") || a.cfg.Pages == nil || a.apiSegments[firstSegment(r.URL.Path)]
}

func firstSegment(path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return first
}

// admitCall passes on a request for an endpoint that is within the limits.
func (a *API) admitCall(c *gin.Context) {
	header := c.Writer.Header()
	header["Vary"] = varyOrigin
	if c.Request.Header["Origin"] != nil { // pages get no CORS headers: they may show private data
		maps.Copy(header, corsHeaders)
	}
	a.admit(c, presentedToken(c), presentedKey(c) != "")
}

// admitUnknown is the admit handler of paths without a route.
func (a *API) admitUnknown(c *gin.Context) {
	if a.isAPIPath(c.Request) {
		a.admitCall(c)
	} else {
		a.admitReader(&a.unknown)(c)
	}
}

// admit counts a request against the limits. secret is the one that it presents, or "". tries says whether it tries a
// second one. It aborts a request beyond the limits, or with an escaped slash in its path.
func (a *API) admit(c *gin.Context, secret string, tries bool) {
	route := Route(c)
	if a.limits != nil && route != PathAlive && route != PathReady && c.Request.Method != http.MethodOptions {
		use, exceeded, retry := a.limits.Admit(c.Request, secret, tries)
		use.Tell(c.Writer.Header())
		if exceeded != "" {
			a.noteLimit(c, exceeded, retry)
			a.fail(c, limitErrors[exceeded])
			return
		}
	}
	if escapedSlash(c.Request.URL) {
		a.notFound(c)
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
		{http.MethodGet, PathReady, a.handle(authIgnored, a.readiness)},
	}
}

func (a *API) readiness(ctx context.Context, _ *call) (any, error) {
	if a.draining.Load() {
		return nil, errDraining
	}
	return healthy, a.ready(ctx)
}

// healthy is the answer of both health checks. Liveness must not depend on the database.
var healthy = map[string]string{"status": "ok"}

var errDraining = fault.New(fault.Unavailable, "This server is shutting down. Use another.")
