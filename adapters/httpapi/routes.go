package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/domain/fault"
)

// endpoint is the handler of a path and method. GET also serves HEAD, and OPTIONS answers the methods of a path.
type endpoint struct {
	method, path string
	authorization
	handle gin.HandlerFunc
}

// endpoints are the interface below the base path. Endpoints of one path must be adjacent. handle makes handlers that use the database,
// and accept those that take a body.
func (a *API) endpoints(docs *docs, basePath string) []endpoint {
	yaml, json := OpenAPI(basePath)
	return []endpoint{
		{http.MethodGet, "/user/:username/exists", ignored, a.handle(a.userExists)},
		{http.MethodGet, "/user/:username", ignored, a.handle(a.userProfile)},
		{http.MethodGet, "/user/self", required, a.handle(a.self)},
		{http.MethodGet, "/user/self/pastes", required, a.handle(a.selfPastes)},
		{http.MethodGet, "/data/language", ignored, a.languageByName},
		{http.MethodGet, "/data/languageExt", ignored, a.languageByExtension},
		{http.MethodGet, "/data/numPastes", ignored, a.handle(a.pasteCount)},
		{http.MethodPost, "/paste", voluntary, a.accept(a.createPaste, a.sendStored)},
		{http.MethodGet, "/paste/:id", optional, a.handle(a.readPaste)},
		{http.MethodPatch, "/paste/:id", required, a.accept(a.editPaste, a.sendStored)},
		{http.MethodDelete, "/paste/:id", voluntary, a.handle(a.deletePaste)},
		{http.MethodPost, "/raw", voluntary, a.accept(a.createFromText, a.sendLink)},
		{http.MethodGet, "/raw/:id/:pastyId", optional, a.handle(a.readText)},
		{http.MethodGet, "/raw/:id/:pastyId/:editId", optional, a.handle(a.readText)},
		{http.MethodPost, "/encrypted", voluntary, a.accept(a.createEncrypted, a.sendEncrypted)},
		{http.MethodGet, "/encrypted/:id", optional, a.handle(a.readEncrypted)},
		{http.MethodPost, "/open/:id", optional, a.handle(a.openPaste)},
		{http.MethodGet, "/time/expiresInToUnixTime", ignored, a.expiryTime},
		{http.MethodGet, "/openapi.yaml", ignored, newFixedAnswer(yamlContentType, yaml).answer},
		{http.MethodGet, "/openapi.json", ignored, newFixedAnswer(jsonContentType, json).answer},
		{http.MethodGet, "/docs", ignored, docs.page.answer},
		{http.MethodGet, "/docs/:file", ignored, a.handle(docs.file)},
	}
}

// healthChecks are outside the base path.
func (a *API) healthChecks() []endpoint {
	return []endpoint{
		{http.MethodGet, PathAlive, ignored, a.alive},
		{http.MethodGet, PathReady, ignored, a.handle(a.readiness)},
	}
}

// serve registers endpoints, with and without a trailing slash.
func (a *API) serve(group *gin.RouterGroup, endpoints []endpoint) {
	for i := 0; i < len(endpoints); {
		path := endpoints[i].path
		var allowed []string
		for ; i < len(endpoints) && endpoints[i].path == path; i++ {
			methods := []string{endpoints[i].method}
			if methods[0] == http.MethodGet {
				methods = append(methods, http.MethodHead)
			}
			for _, method := range methods {
				group.Handle(method, path, endpoints[i].handlers()...)
				group.Handle(method, path+"/", endpoints[i].handlers()...)
			}
			allowed = append(allowed, methods...)
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
}

func (e endpoint) handlers() []gin.HandlerFunc {
	switch e.authorization {
	case ignored:
		return []gin.HandlerFunc{e.handle}
	case optional, required, voluntary:
		return []gin.HandlerFunc{e.authorize, e.handle}
	}
	panic(e.method + " " + e.path + " does not say how it treats the header Authorization")
}

// The paths of the health checks, outside the base path.
const (
	PathAlive = "/healthz"
	PathReady = "/readyz"
)

func (a *API) alive(c *gin.Context) { writeJSON(c, okStatus) }

func (a *API) readiness(ctx context.Context, c *gin.Context) error {
	if a.draining.Load() {
		return errDraining
	}
	if err := a.ready(ctx); err != nil {
		return err
	}
	writeJSON(c, okStatus)
	return nil
}

var (
	okStatus    = []byte(`{"status":"ok"}`)
	errDraining = fault.New(fault.Unavailable, "This server is shutting down. Use another.")
)
