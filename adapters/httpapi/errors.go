package httpapi

import (
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/adapters/httpapi/limit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// statusOf maps kinds of errors to statuses.
var statusOf = map[fault.Kind]int{
	fault.Internal:        http.StatusInternalServerError,
	fault.NotFound:        http.StatusNotFound,
	fault.Invalid:         http.StatusBadRequest,
	fault.Unauthenticated: http.StatusUnauthorized,
	fault.Conflict:        http.StatusConflict,
	fault.Unavailable:     http.StatusServiceUnavailable,
	fault.Exhausted:       http.StatusTooManyRequests,
	fault.Gone:            http.StatusGone,
	fault.Forbidden:       http.StatusForbidden,
}

// problem is the body of every error: RFC 9457's members for new clients, statusMessage for clients of the v2 API.
type problem struct {
	Type          string `json:"type"`
	Title         string `json:"title"`
	Status        int    `json:"status"`
	Detail        string `json:"detail"`
	StatusMessage string `json:"statusMessage"`
	RequestID     string `json:"requestId"`
}

const (
	mediaJSON    = "application/json"
	mediaProblem = "application/problem+json"
	mediaHTML    = "text/html"
	mediaText    = "text/plain"
	// retryAfterSeconds is when a client may try again after a 503.
	retryAfterSeconds = "1"
)

// fail answers with the error's status and public message. The cause goes to the access log.
func (a *API) fail(c *gin.Context, err error) {
	if refused, ok := errors.AsType[*refusal](err); ok {
		a.refuse(c, refused)
		return
	}
	kind := fault.KindOf(err)
	switch kind {
	case fault.Unauthenticated:
		challenge := "Bearer"
		if presentedToken(c) != "" {
			challenge = `Bearer error="invalid_token"` // RFC 6750, 3.1
		}
		c.Header("WWW-Authenticate", challenge)
	case fault.Unavailable:
		c.Header("Retry-After", retryAfterSeconds)
		noteCause(c, err)
	case fault.Internal:
		noteCause(c, err)
	case fault.Invalid:
		if refused, ok := errors.AsType[*fault.Error](err); ok && refused.Unwrap() != nil { // an operator may have to mend something
			noteCause(c, err)
		}
	case fault.Exhausted:
		if refused, ok := errors.AsType[*paste.QuotaError](err); ok {
			name := limit.AnonymousPastes
			if refused.Quota.Signed {
				name = limit.UserPastes
			}
			a.tooMany(c, name, refused.Retry, fault.MessageOf(err))
			return
		}
	}
	if errors.Is(err, paste.ErrAllowance) {
		a.typedProblem(c, typeQuota, statusOf[kind], fault.MessageOf(err))
		return
	}
	a.problem(c, statusOf[kind], fault.MessageOf(err))
}

// Values of a problem's member type.
const (
	typeNone  = "about:blank" // the status says it
	typeQuota = "quota"
)

// problem answers with an error body.
func (a *API) problem(c *gin.Context, status int, message string) {
	a.typedProblem(c, typeNone, status, message)
}

func (a *API) typedProblem(c *gin.Context, kind string, status int, message string) {
	c.Abort()
	if a.pageError(c, status, message) {
		return
	}
	body := encodeJSON(problem{
		Type: kind, Title: http.StatusText(status), Status: status,
		Detail: message, StatusMessage: message, RequestID: c.Writer.Header().Get(requestIDHeader),
	})
	contentType := mediaJSON
	if prefers(c.Request.Header.Values("Accept"), mediaProblem, mediaJSON) {
		contentType = mediaProblem
	}
	header := c.Writer.Header()
	header.Add("Vary", "Accept")
	if header["Cache-Control"] == nil {
		header["Cache-Control"] = noStore
	}
	sendBody(c, status, []string{contentType}, nil, body)
}
