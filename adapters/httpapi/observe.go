package httpapi

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/gluepot/gluepot/adapters/httpapi/limit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
)

// causeKey is the key of gin's context under which an error is kept for the access log.
const causeKey = "cause"

// observe gives the request an id, and writes a line to the access log. The line has the route's pattern instead of the
// path, query and headers, which may contain secrets.
func (a *API) observe(c *gin.Context) {
	start := time.Now()
	var proxied bool
	c.Request, proxied = a.proxies.original(c.Request)
	if !proxied && c.Request.Header["X-Forwarded-For"] != nil {
		a.warnOfProxy(c.Request.RemoteAddr)
	}
	id := c.Request.Header.Get(requestIDHeader)
	if !proxied || !validRequestID(id) {
		id = newRequestID()
	}
	header := c.Writer.Header()
	header[requestIDHeader] = []string{id}
	maps.Copy(header, securityHeaders)
	if a.draining.Load() {
		header["Connection"] = closeConnection
	}

	method, route := c.Request.Method, Route(c)
	if strings.HasPrefix(a.cfg.PublicURL, "https:") {
		if c.Request.URL.Scheme != "https" && route != PathAlive && route != PathReady {
			a.warnOfHTTP()
		}
		c.Request.URL.Scheme = "https" // so that cookies are Secure, whatever the proxy says
	}
	finish := func(int) {}
	if a.cfg.Observe != nil {
		finish = a.cfg.Observe(method, route)
	}
	if a.cfg.Tracing != nil && !proxied {
		c.Request.Header.Del("Traceparent") // or a stranger could have every request sampled
	}
	c.Next()

	status := c.Writer.Status()
	finish(status)
	level := zapcore.InfoLevel
	cause, _ := c.Value(causeKey).(error)
	switch {
	// clients cause these; an operator can raise the limits
	case fault.Is(cause, fault.Busy) && !errors.Is(cause, context.Canceled):
		level = zapcore.WarnLevel
	case status >= http.StatusInternalServerError && status != http.StatusNotImplemented, // visitors can cause 501
		// a failure after the start of the answer, or one that the answer of another adapter reports
		status < http.StatusBadRequest && cause != nil && !isRefusal(cause):
		if !errors.Is(cause, context.Canceled) { // the client has hung up
			level = zapcore.ErrorLevel
		}
	case route == PathAlive || route == PathReady:
		level = zapcore.DebugLevel // orchestrators ask every few seconds
	}
	line := a.log.Check(level, "request")
	if line == nil {
		return
	}
	fields := []zap.Field{
		zap.String("request_id", id),
		zap.String("method", method),
		zap.String("route", route),
		zap.Int("status", status),
		zap.Float64("duration_ms", float64(time.Since(start).Microseconds())/1000),
		zap.Int("bytes", max(c.Writer.Size(), 0)),
		zap.String("client", c.Request.RemoteAddr),
		zap.Error(cause), // if there is one
	}
	if trace := c.GetString(TraceKey); trace != "" {
		fields = append(fields, zap.String("trace_id", trace))
	}
	line.Write(fields...)
}

// isRefusal reports whether an error is about what the client may not do, and not a failure.
func isRefusal(err error) bool { return fault.Is(err, fault.Forbidden) || fault.Is(err, fault.Invalid) }

// memoryClient returns the client whose share of memory a request uses: an address, or an IPv6 network.
func memoryClient(r *http.Request) string { return limit.Client(r.RemoteAddr) }

// limitErrors has the error for each limit that a client may exceed.
var limitErrors = map[string]error{
	limit.Requests: fault.New(fault.Exhausted,
		"You are sending too many requests. Try again after the time in Retry-After."),
	limit.FailedSignIns: fault.New(fault.Exhausted,
		"Too many failed sign-ins, or wrong tokens or keys, came from your address. Try again after the time in "+
			"Retry-After."),
}

// recoverPanic answers 500 after a handler has panicked.
func (a *API) recoverPanic(c *gin.Context, cause any) {
	id := c.Writer.Header().Get(requestIDHeader)
	a.log.Error("panic while answering", zap.String("request_id", id), zap.Any("panic", cause), zap.Stack("stack"))
	if !c.Writer.Written() {
		a.problem(c, typeNone, http.StatusInternalServerError, fault.MessageInternal)
	}
}

const requestIDHeader = "X-Request-Id"

// newRequestID returns a random id. Its length is fixed, so that the lengths of answers do not vary with it.
func newRequestID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}

// requestIDs matches ids that are safe in a header and in the log.
var requestIDs = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,64}$`)

// validRequestID reports whether an id from a proxy may be used. A token that a client has put into the wrong header
// may not.
func validRequestID(id string) bool {
	return requestIDs.MatchString(id) && !strings.Contains(id, token.Prefix)
}

// TraceKey is the key of gin's context under which Config.Tracing keeps the id of a request's trace for the access log.
const TraceKey = "trace_id"

// Route returns the route of a request, such as /paste/:id, or "".
func Route(c *gin.Context) string {
	if escapedSlash(c.Request.URL) {
		return ""
	}
	if path := c.FullPath(); path == "/" {
		return path
	}
	return strings.TrimSuffix(c.FullPath(), "/")
}
