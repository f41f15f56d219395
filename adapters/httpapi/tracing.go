package httpapi

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// TraceKey is where Config.Tracing leaves the id of a request's trace in gin's context, for the access log.
const TraceKey = "trace_id"

// routeKey is where the route of a request is in gin's context.
const routeKey = "route"

// Route returns the route that takes a request, such as /paste/:id, or "" when none does.
func Route(c *gin.Context) string { return strings.TrimSuffix(c.GetString(routeKey), "/") }

// traced returns middleware for tracing, without health checks: those are not worth a trace every few seconds.
func traced(middleware []gin.HandlerFunc) []gin.HandlerFunc {
	traced := make([]gin.HandlerFunc, len(middleware))
	for i, each := range middleware {
		traced[i] = func(c *gin.Context) {
			if route := Route(c); route != PathAlive && route != PathReady {
				each(c)
			}
		}
	}
	return traced
}

// maxTraceState is how much of a caller's state goes into every span: twice what W3C asks for.
const maxTraceState = 1 << 10

// forgetTrace takes from a request which trace it is part of, unless a trusted proxy says so, and only once: of two callers one is made up.
func forgetTrace(header http.Header, proxied bool) {
	if !proxied || len(header["Traceparent"]) != 1 {
		delete(header, "Traceparent")
	}
	if len(strings.Join(header["Tracestate"], ",")) > maxTraceState {
		delete(header, "Tracestate")
	}
}
