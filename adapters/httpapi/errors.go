package httpapi

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"go.uber.org/zap"

	"github.com/gluepot/gluepot/domain/fault"
)

// statusOf is the one place where kinds of errors become statuses.
var statusOf = map[fault.Kind]int{
	fault.Internal:        http.StatusInternalServerError,
	fault.NotFound:        http.StatusNotFound,
	fault.Invalid:         http.StatusBadRequest,
	fault.Unauthenticated: http.StatusUnauthorized,
	fault.Conflict:        http.StatusConflict,
	fault.Unavailable:     http.StatusServiceUnavailable,
}

// problem is the body of every error: RFC 9457's members for new clients, statusMessage for those of
// the v2 API.
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
	// retryAfterSeconds is when a client may try again after a 503.
	retryAfterSeconds = "1"
)

// fail answers with the error's status and public message. The cause goes into the access log only.
func (a *API) fail(c *gin.Context, err error) {
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
	}
	a.problem(c, statusOf[kind], fault.MessageOf(err))
}

// problem answers with an error body.
func (a *API) problem(c *gin.Context, status int, message string) {
	header := c.Writer.Header()
	body, err := encodeJSON(problem{
		Type: "about:blank", Title: http.StatusText(status), Status: status,
		Detail: message, StatusMessage: message, RequestID: requestID(c),
	})
	if err != nil { // strings and an integer: cannot fail
		a.log.Error("encode an error body", zap.Error(err))
	}
	contentType := mediaJSON
	if prefersProblem(c.Request.Header.Values("Accept")) {
		contentType = mediaProblem
	}
	header.Set("Content-Type", contentType)
	header.Set("Vary", "Accept")
	if header["Cache-Control"] == nil {
		header.Set("Cache-Control", "no-store")
	}
	c.Status(status)
	_, _ = c.Writer.Write(body) // a client that has gone cannot be told
	c.Abort()
}

func (a *API) recovered(c *gin.Context, recovered any) {
	a.log.Error("panic while answering", zap.String("request_id", requestID(c)), zap.Any("panic", recovered), zap.Stack("stack"))
	if !c.Writer.Written() {
		a.problem(c, http.StatusInternalServerError, fault.MessageOf(nil))
	}
	c.Abort()
}

// maxListHeader is how much is read of headers that are lists. Programs send far less; what is longer is ignored.
const maxListHeader = 1 << 10

// short reports whether the lines of a header are at most maxListHeader together.
func short(lines []string) bool {
	length := 0
	for _, line := range lines {
		if length += len(line) + len(","); length > maxListHeader {
			return false
		}
	}
	return true
}

// prefersProblem reports whether Accept names application/problem+json and does not rank application/json above
// it, for which the range counts that says most about it (RFC 9110, 12.5.1).
func prefersProblem(accept []string) bool {
	if !short(accept) {
		return false
	}
	asked, plain := 0, [...]int{-1, -1, -1} // the weights of the three ranges below, -1 where there is none
	for _, line := range accept {
		for mediaRange := range strings.SplitSeq(line, ",") {
			mediaType, parameters, _ := strings.Cut(mediaRange, ";")
			mediaType = strings.Trim(mediaType, " \t")
			if strings.EqualFold(mediaType, mediaProblem) {
				asked = max(asked, quality(parameters))
			}
			for i, covering := range [...]string{mediaJSON, "application/*", "*/*"} {
				if strings.EqualFold(mediaType, covering) {
					plain[i] = max(plain[i], quality(parameters))
				}
			}
		}
	}
	for _, weight := range plain {
		if weight >= 0 {
			return asked > 0 && asked >= weight
		}
	}
	return asked > 0
}

// quality returns the weight among the parameters of a media range, in thousandths: 1000 when there is none, and 0,
// which means "not acceptable", when it is not one (RFC 9110, 12.4.2).
func quality(parameters string) int {
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(strings.Trim(parameter, " \t"), "=")
		if !strings.EqualFold(name, "q") {
			continue
		}
		whole, fraction, _ := strings.Cut(value, ".")
		if whole != "0" && whole != "1" || len(fraction) > 3 {
			return 0
		}
		weight := int(whole[0] - '0')
		for i := range 3 {
			digit := 0
			if i < len(fraction) {
				if digit = int(fraction[i]) - '0'; digit < 0 || digit > 9 {
					return 0
				}
			}
			weight = 10*weight + digit
		}
		if weight > 1000 {
			return 0
		}
		return weight
	}
	return 1000
}
