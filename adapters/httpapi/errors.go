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
	typeNone     = "about:blank" // of a problem: the status says it
	// retryAfterSeconds is when a client may try again after a 503.
	retryAfterSeconds = "1"
)

// refusal is an error of HTTP alone, for which there is no kind of fault.
type refusal struct {
	status  int
	message string
	unread  bool // the body was not read to its end
}

func (r *refusal) Error() string { return r.message }

var (
	errNothing = fault.New(fault.NotFound, "There is nothing at this path.")
	errEncoded = &refusal{http.StatusUnsupportedMediaType,
		"Send the body as it is: this server takes no Content-Encoding.", false}
	errSlow   = &refusal{http.StatusRequestTimeout, "The body did not arrive in time.", false}
	errBroken = &refusal{http.StatusBadRequest, "The body ended early, or its chunked encoding is invalid.", false}
	errNoRoom = &refusal{http.StatusServiceUnavailable, limit.ErrNoMemory.Message, true}
)

func (a *API) tooLarge() error {
	return &refusal{http.StatusRequestEntityTooLarge,
		fmt.Sprintf("The body is larger than %d bytes.", a.cfg.PasteMaxBody), true}
}

// fail answers with the error's status and public message. The cause goes to the access log.
func (a *API) fail(c *gin.Context, err error) {
	if refused, ok := errors.AsType[*refusal](err); ok {
		if refused.status == http.StatusForbidden {
			c.Set(causeKey, err)
		}
		a.refuse(c, refused)
		return
	}
	kind, problemType := fault.KindOf(err), typeNone
	switch kind { // of these an operator has to know the reason
	case fault.Internal, fault.Unavailable, fault.Busy, fault.Forbidden:
		c.Set(causeKey, err)
	case fault.Invalid:
		if errors.Unwrap(err) != nil {
			c.Set(causeKey, err)
		}
	}
	switch kind {
	case fault.Unauthenticated:
		challenge := "Bearer"
		if presentedToken(c) != "" {
			challenge = `Bearer error="invalid_token"` // RFC 6750, 3.1
		}
		c.Header("WWW-Authenticate", challenge)
	case fault.Unavailable, fault.Busy:
		c.Header("Retry-After", retryAfterSeconds)
	case fault.Exhausted:
		if refused, ok := errors.AsType[*paste.QuotaError](err); ok {
			name := limit.AnonymousPastes
			if refused.Quota.Signed {
				name = limit.UserPastes
			}
			useOf(refused.Usage()).Tell(c.Writer.Header())
			a.noteLimit(c, name, refused.Retry)
		}
	case fault.Forbidden:
		if errors.Is(err, paste.ErrAllowance) {
			problemType = "quota"
		}
	}
	a.problem(c, problemType, statusOf[kind], fault.MessageOf(err))
}

// noteLimit counts an answer with 429, and sets its Retry-After (RFC 6585, 4).
func (a *API) noteLimit(c *gin.Context, name string, retry time.Duration) {
	if a.cfg.OnLimited != nil {
		a.cfg.OnLimited(name)
	}
	c.Header("Retry-After", limit.Seconds(retry))
}

// useOf returns the use of a quota of pastes.
func useOf(used paste.Usage) limit.Use {
	name := "anonymous"
	if used.Signed {
		name = "user"
	}
	return limit.Use{Name: name, Quota: used.Pastes, Window: used.Window, Left: used.Left(), Full: used.Full}
}

// After a body is refused, up to maxDropped bytes of it are read and dropped: otherwise a client that sends its whole
// body before it reads sees a reset connection instead of the answer. dropping is the time for a client that stands
// still.
const (
	maxDropped = 32 << 20
	dropping   = 2 * time.Second
)

// refuse answers with a refusal. Except for 415, it closes the connection: what is left of a body would be parsed as
// the next request.
func (a *API) refuse(c *gin.Context, r *refusal) {
	header := c.Writer.Header()
	if r == errEncoded {
		header["Accept-Encoding"] = []string{"identity"}
	} else {
		header["Connection"] = closeConnection
	}
	if r == errNoRoom {
		header["Retry-After"] = []string{retryAfterSeconds}
		c.Set(causeKey, limit.ErrNoMemory)
	}
	connection := http.NewResponseController(c.Writer)
	drop := r.unread && c.Request.Header["Expect"] == nil && connection.EnableFullDuplex() == nil
	a.problem(c, typeNone, r.status, r.message)
	if drop && connection.SetReadDeadline(time.Now().Add(dropping)) == nil && connection.Flush() == nil {
		_, _ = io.CopyN(io.Discard, c.Request.Body, maxDropped) // best effort
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
			c.Request.Header.Del("Cookie") // which the interface ignores
		}
		if a.cfg.Pages.AnswerError(c.Writer, c.Request.WithContext(ctx), status, message) && page != nil {
			secret, _ := page.Secret(c.Request)
			a.limits.Rejected(c.Request, secret)
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
