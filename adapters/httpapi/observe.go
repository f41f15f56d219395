package httpapi

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

const (
	requestIDHeader = "X-Request-Id"
	causeKey        = "cause"
)

// observe gives the request an id and writes one line about it to the access log: never its path,
// query or headers, which may hold secrets, but the pattern of the route that took it.
func (a *API) observe(c *gin.Context) {
	start := time.Now()
	id := c.Request.Header.Get(requestIDHeader)
	if !validRequestID(id) {
		id = newRequestID()
	}
	c.Writer.Header()[requestIDHeader] = []string{id}

	c.Next()

	status := c.Writer.Status()
	level := zapcore.InfoLevel
	switch {
	case status >= http.StatusInternalServerError:
		level = zapcore.ErrorLevel
	case c.FullPath() == pathAlive || c.FullPath() == pathReady:
		level = zapcore.DebugLevel // an orchestrator asks every few seconds
	}
	now := time.Now()
	// The core is asked directly because the logger would look at the clock once more.
	entry := a.log.Core().Check(zapcore.Entry{Level: level, Time: now, LoggerName: a.log.Name(), Message: "request"}, nil)
	if entry == nil {
		return
	}
	line := logLines.Get().(*logLine) //nolint:forcetypeassert // the pool holds nothing else
	line.id, line.status, line.duration, line.cause = id, status, now.Sub(start), nil
	line.method, line.route, line.bytes, line.client = knownMethod(c.Request.Method), c.FullPath(), max(c.Writer.Size(), 0), a.clientAddress(c)
	if status >= http.StatusInternalServerError {
		if cause, ok := c.Get(causeKey); ok {
			line.cause = cause.(error) //nolint:forcetypeassert // only noteCause sets it
		}
	}
	entry.Write(line.field[:]...)
	logLines.Put(line)
}

// logLine is what the access log says of a request.
type logLine struct {
	id, method, route, client string
	status, bytes             int
	duration                  time.Duration
	cause                     error
	field                     [1]zap.Field // the line itself, so that writing it allocates nothing
}

var logLines = sync.Pool{New: func() any {
	line := new(logLine)
	line.field[0] = zap.Inline(line)
	return line
}}

// MarshalLogObject implements zapcore.ObjectMarshaler.
func (l *logLine) MarshalLogObject(encoder zapcore.ObjectEncoder) error {
	encoder.AddString("request_id", l.id)
	encoder.AddString("method", l.method)
	encoder.AddString("route", l.route)
	encoder.AddInt("status", l.status)
	encoder.AddFloat64("duration_ms", float64(l.duration.Microseconds())/1000)
	encoder.AddInt("bytes", l.bytes)
	encoder.AddString("client", l.client)
	if l.cause != nil {
		encoder.AddString("error", l.cause.Error())
	}
	return nil
}

// clientAddress returns whom the request comes from, without looking at headers where no proxy is trusted.
func (a *API) clientAddress(c *gin.Context) string {
	if a.behindProxies {
		return c.ClientIP()
	}
	remote := c.Request.RemoteAddr
	if colon := strings.LastIndexByte(remote, ':'); colon >= 0 {
		return remote[:colon]
	}
	return remote
}

// noteCause leaves an error for the access log, the one place where it is logged.
func noteCause(c *gin.Context, err error) { c.Set(causeKey, err) }

func requestID(c *gin.Context) string {
	if id := c.Writer.Header()[requestIDHeader]; len(id) > 0 {
		return id[0]
	}
	return ""
}

func newRequestID() string {
	var random [16]byte
	binary.LittleEndian.PutUint64(random[:8], rand.Uint64()) //nolint:gosec // tells requests apart, keeps no secret
	binary.LittleEndian.PutUint64(random[8:], rand.Uint64()) //nolint:gosec // as above
	var text [2 * len(random)]byte
	hex.Encode(text[:], random[:])
	return string(text[:])
}

// validRequestID accepts an id of the client's own if it is safe to repeat in a header and a log.
func validRequestID(id string) bool {
	if id == "" || len(id) > 64 {
		return false
	}
	for i := range len(id) {
		c := id[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.') {
			return false
		}
	}
	return true
}

// knownMethod keeps a client from writing what it likes into the log: a method is any token.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions, http.MethodConnect, http.MethodTrace:
		return method
	}
	return "other"
}
