package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// RequestTracer follows requests. It is called by all of them at once, and must be quick and not panic.
type RequestTracer interface {
	// RequestBegan says that a request with a method, or "other", and a route such as /paste/:id, or "" for those that no route
	// takes, came over a scheme, http or https. The header is the request's if it comes by a trusted proxy, and otherwise nil:
	// strangers do not say what their requests are part of. It returns the context that the request has from now on, and the
	// id of its trace for the access log.
	RequestBegan(ctx context.Context, method, route, scheme string, header http.Header) (within context.Context, trace string)
	// RequestEnded says how the request that has that context was answered.
	RequestEnded(ctx context.Context, status int)
}

// followed is a request and who follows it. Of the zero value, nobody does.
type followed struct {
	by    RequestTracer
	ctx   context.Context //nolint:containedctx // that of the request
	trace string
}

// follow tells the tracer, if there is one, of a request. Health checks are not worth one every few seconds.
func (a *API) follow(c *gin.Context, route string, proxied bool) followed {
	if a.tracer == nil || route == PathAlive || route == PathReady {
		return followed{}
	}
	var header http.Header
	if proxied {
		header = c.Request.Header
	}
	ctx, trace := a.tracer.RequestBegan(c.Request.Context(), knownMethod(c.Request.Method),
		strings.TrimSuffix(route, "/"), a.scheme(c.Request, proxied), header)
	c.Request = c.Request.WithContext(ctx)
	return followed{a.tracer, ctx, trace}
}

func (f followed) ended(status int) {
	if f.by != nil {
		f.by.RequestEnded(f.ctx, status)
	}
}
