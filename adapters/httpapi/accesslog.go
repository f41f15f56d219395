package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/gluepot/gluepot/domain/fault"
)

const causeKey = "cause"

// observe gives the request an id and writes one line about it to the access log: never its path,
// query or headers, which may hold secrets, but the pattern of the route that took it.
func (a *API) observe(c *gin.Context) {
	start := time.Now()
	client, proxied := a.proxies.client(c.Request)
	id := ""
	if proxied {
		id = c.Request.Header.Get(requestIDHeader)
	}
	if !validRequestID(id) {
		id = newRequestID()
	}
	header := c.Writer.Header()
	header[requestIDHeader] = []string{id}
	guard(header)
	share(c.Request.Header, header)
	if a.draining.Load() {
		header["Connection"] = closeConnection
	}

	route := c.FullPath()
	escaped, page := escapedSlash(c.Request.URL), false
	switch {
	case escaped:
		route = ""
	case route == "":
		route = a.pages.route(c.Request)
		if page = route != ""; page {
			c.Set(pageKey, route)
		}
	}
	if (page || route == "") && a.pages.outside(c.Request.URL.Path) { // its errors are pages, too
		c.Request = a.asked(c.Request, proxied)
	}
	watching := a.observers.began(c.Request.Method, route)
	if a.tracing {
		c.Set(routeKey, route)
		forgetTrace(c.Request.Header, proxied)
	}
	asking := a.presents(c, client, page)
	switch {
	case !a.admit(c, asking, route): // it is answered
	case escaped:
		a.nothingHere(c)
	default:
		c.Next()
		a.judged(c, asking)
	}

	status := c.Writer.Status()
	if watching != nil {
		watching.Ended(status, time.Since(start))
	}
	level := zapcore.InfoLevel
	var cause error
	switch {
	case status >= http.StatusInternalServerError:
		cause, _ = c.Value(causeKey).(error)
		if !errors.Is(cause, context.Canceled) { // by a client that has hung up
			level = zapcore.ErrorLevel
		}
	case route == PathAlive || route == PathReady:
		level = zapcore.DebugLevel // an orchestrator asks every few seconds
	}
	line := a.log.Check(level, "request")
	if line == nil {
		return
	}
	fields := []zap.Field{
		zap.String("request_id", id),
		zap.String("method", knownMethod(c.Request.Method)),
		zap.String("route", route),
		zap.Int("status", status),
		zap.Float64("duration_ms", float64(time.Since(start).Microseconds())/1000),
		zap.Int("bytes", max(c.Writer.Size(), 0)),
		zap.String("client", client),
	}
	if trace := c.GetString(TraceKey); trace != "" {
		fields = append(fields, zap.String("trace_id", trace))
	}
	if cause != nil {
		fields = append(fields, zap.String("error", cause.Error()))
	}
	line.Write(fields...)
}

// recovering answers what an endpoint that panics was asked with 500.
func (a *API) recovering(c *gin.Context) {
	defer func() {
		recovered := recover()
		if recovered == nil {
			return
		}
		a.log.Error("panic while answering", zap.String("request_id", requestID(c)), zap.Any("panic", recovered), zap.Stack("stack"))
		if !c.Writer.Written() {
			a.problem(c, http.StatusInternalServerError, fault.MessageInternal)
		}
		c.Abort()
	}()
	c.Next()
}

// noteCause leaves an error for the access log, the one place where it is logged.
func noteCause(c *gin.Context, err error) { c.Set(causeKey, err) }
