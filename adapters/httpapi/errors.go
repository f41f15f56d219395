package httpapi

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

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
	fault.Busy:            http.StatusServiceUnavailable,
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
	typeNone     = "about:blank" // the type of a problem that its status explains
	// retryAfterSeconds is how long a client should wait after a 503.
	retryAfterSeconds = "1"
)

// refusal is an error of HTTP itself, which no fault.Kind stands for.
type refusal struct {
	status  int
	message string
	unread  bool // the rest of the body was not read
}

func (r *refusal) Error() string { return r.message }

var (
	errNotFound        = fault.New(fault.NotFound, "There is nothing at this path.")
	errContentEncoding = &refusal{http.StatusUnsupportedMediaType,
		"Send the body uncompressed: this server does not accept a Content-Encoding.", false}
	errBodyTimeout    = &refusal{http.StatusRequestTimeout, "The body did not arrive in time.", false}
	errIncompleteBody = &refusal{http.StatusBadRequest, "The body ended early, or its chunked encoding is invalid.", false}
	errNoMemory       = &refusal{http.StatusServiceUnavailable, limit.ErrNoMemory.Message, true}
)

func tooLarge(limit int) error {
	return &refusal{http.StatusRequestEntityTooLarge,
		fmt.Sprintf("The body is larger than %d bytes.", limit), true}
}

// fail answers with the error's status and public message. The cause goes to the access log.
func (a *API) fail(c *gin.Context, err error) {
	if r, ok := errors.AsType[*refusal](err); ok {
		if r.status == http.StatusForbidden {
			c.Set(causeKey, err)
		}
		a.refuse(c, r)
		return
	}
	kind, problemType := fault.KindOf(err), typeNone
	a.note(c, err)
	switch kind {
	case fault.Unauthenticated:
		challenge := "Bearer"
		if presentedToken(c) != "" {
			challenge = `Bearer error="invalid_token"` // RFC 6750, 3.1
		}
		c.Header("WWW-Authenticate", challenge)
	case fault.Unavailable, fault.Busy:
		c.Header("Retry-After", retryAfterSeconds)
	case fault.Forbidden:
		if errors.Is(err, paste.ErrAllowance) {
			problemType = "quota"
		}
	}
	a.problem(c, problemType, statusOf[kind], fault.MessageOf(err))
}

// note keeps an error's cause for the access log, and counts an exceeded quota.
func (a *API) note(c *gin.Context, err error) {
	switch fault.KindOf(err) { // an operator needs the cause of these
	case fault.Internal, fault.Unavailable, fault.Busy, fault.Forbidden:
		c.Set(causeKey, err)
	case fault.Invalid:
		if errors.Unwrap(err) != nil {
			c.Set(causeKey, err)
		}
	case fault.Exhausted:
		if quota, ok := errors.AsType[*paste.QuotaError](err); ok {
			name := limit.AnonymousPastes
			if quota.Quota.Signed {
				name = limit.UserPastes
			}
			useOf(quota.Usage()).Tell(c.Writer.Header())
			a.noteLimit(c, name, quota.Retry)
		}
	}
}

// noteLimit tells OnLimited of a 429, and sets its Retry-After (RFC 6585, 4).
func (a *API) noteLimit(c *gin.Context, name string, retry time.Duration) {
	if a.cfg.OnLimited != nil {
		a.cfg.OnLimited(name)
	}
	c.Header("Retry-After", limit.Seconds(retry))
}

// useOf returns the use of a quota of pastes.
func useOf(usage paste.Usage) limit.Use {
	name := "anonymous"
	if usage.Signed {
		name = "user"
	}
	return limit.Use{Name: name, Quota: usage.Pastes, Window: usage.Window, Left: usage.Left(), Full: usage.Full}
}

// After a body is refused, up to maxDrop bytes of it are read and dropped: a client that sends its whole body before it
// reads would otherwise see a reset connection instead of the answer. dropTimeout ends the wait for a stalled client.
const (
	maxDrop     = 32 << 20
	dropTimeout = 2 * time.Second
)

// refuse answers with a refusal. Except after 415, it closes the connection: the rest of the body would be parsed as
// the next request.
func (a *API) refuse(c *gin.Context, r *refusal) {
	header := c.Writer.Header()
	if r == errContentEncoding {
		header["Accept-Encoding"] = []string{"identity"}
	} else {
		header["Connection"] = closeConnection
	}
	if r == errNoMemory {
		header["Retry-After"] = []string{retryAfterSeconds}
		c.Set(causeKey, limit.ErrNoMemory)
	}
	connection := http.NewResponseController(c.Writer)
	drop := r.unread && c.Request.Header["Expect"] == nil && connection.EnableFullDuplex() == nil
	a.problem(c, typeNone, r.status, r.message)
	if drop && connection.SetReadDeadline(time.Now().Add(dropTimeout)) == nil && connection.Flush() == nil {
		_, _ = io.CopyN(io.Discard, c.Request.Body, maxDrop) // best effort
	}
}

// problem answers with an error body, or with a page if the client prefers that.
func (a *API) problem(c *gin.Context, problemType string, status int, message string) {
	c.Abort()
	contentType, header, accept := jsonContentType, c.Writer.Header(), c.Request.Header["Accept"]
	header.Add("Vary", "Accept")
	page := pageOf(c)
	if rawLink := page == nil && a.isRawLink(c.Request); (page != nil || rawLink) &&
		prefers(accept, mediaHTML, mediaJSON) {
		ctx, cancel := a.deadline(c.Request)
		defer cancel()
		if rawLink {
			c.Request.Header.Del("Cookie") // the API ignores cookies
		}
		if a.cfg.Pages.AnswerError(c.Writer, c.Request.WithContext(ctx), status, message) && page != nil {
			secret, _ := page.Secret(c.Request)
			a.limits.NoteInvalid(c.Request, secret)
		}
		return
	}
	if prefers(accept, mediaProblem, mediaJSON) {
		contentType = problemContentType
	}
	if header["Cache-Control"] == nil {
		header["Cache-Control"] = noStore
	}
	sendBody(c, status, contentType, nil, encodeJSON(problem{
		Type: problemType, Title: http.StatusText(status), Status: status,
		Detail: message, StatusMessage: message, RequestID: header.Get(requestIDHeader),
	}))
}
