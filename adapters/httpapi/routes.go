package httpapi

import (
	"context"
	"net/http"
	"regexp"
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

// endpoints are the interface below the base path. handle is for those that use the database, and says how each treats the
// header Authorization, which the others ignore.
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
		{http.MethodPut, "/paste/:id/star", a.handle(required|writes, a.starPaste(true))},
		{http.MethodDelete, "/paste/:id/star", a.handle(required|writes, a.starPaste(false))},
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

// parameters are segments of a path that match any text that is not empty.
var parameters = regexp.MustCompile(`:\w+`)

// serve registers endpoints, with and without a trailing slash.
func (a *API) serve(group *gin.RouterGroup, endpoints []endpoint) {
	allowed := make(map[string][]string) // methods, by path
	for _, e := range endpoints {
		methods := []string{e.method}
		if e.method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
		group.Match(methods, e.path, e.handle)
		group.Match(methods, e.path+"/", e.handle)
		allowed[e.path] = append(allowed[e.path], methods...)
	}
	for path, methods := range allowed {
		served := servedPath{
			pattern: parameters.ReplaceAllString(strings.TrimSuffix(group.BasePath(), "/")+path, "?*"),
			allowed: strings.Join(append(methods, http.MethodOptions), ", "),
		}
		a.paths = append(a.paths, served)
		a.own[strings.Split(served.pattern, "/")[1]] = true
		group.OPTIONS(path, preflight(served.allowed))
		group.OPTIONS(path+"/", preflight(served.allowed))
	}
	slices.SortFunc(a.paths, func(x, y servedPath) int { return strings.Compare(y.pattern, x.pattern) }) // "self" before "?*"
}

// The paths of the health checks, outside the base path.
const (
	PathAlive = "/healthz"
	PathReady = "/readyz"
)

func (a *API) readiness(ctx context.Context, _ *call) (any, error) {
	if a.draining.Load() {
		return nil, errDraining
	}
	return healthy, a.ready(ctx)
}

// healthy is what both answer. Liveness must not depend on the database.
var healthy = map[string]string{"status": "ok"}

var errDraining = fault.New(fault.Unavailable, "This server is shutting down. Use another.")
