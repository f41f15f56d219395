package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/adapters/httpapi/limit"
	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/paste"
)

const (
	firstBodyHeld = 4 << 10
	// bodyFactor is how many times its length a body takes in memory: itself, the decoded texts, and the store's copies.
	bodyFactor = 6
)

// refusal is an error of HTTP alone, for which there is no kind of fault.
type refusal struct {
	status  int
	message string
	unread  bool // the body was not read to its end
}

func (r *refusal) Error() string { return r.message }

var (
	errEncoded = &refusal{http.StatusUnsupportedMediaType, "Send the body as it is: this server takes no Content-Encoding.", false}
	errSlow    = &refusal{http.StatusRequestTimeout, "The body did not arrive in time.", false}
	errBroken  = &refusal{http.StatusBadRequest, "The body ended early, or is not chunked as HTTP has it.", false}
	errNoRoom  = &refusal{http.StatusServiceUnavailable, limit.ErrNoMemory.Message, true}
)

func (a *API) tooLarge() error {
	return &refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("The body is larger than %d bytes.", a.maxBody), true}
}

// receive returns the body of a request once it has arrived. It fails with a refusal when the body is too large, encoded or incomplete,
// or there is no memory for it.
func (a *API) receive(c *gin.Context, held *limit.Claim) ([]byte, error) {
	r := c.Request
	if r.ContentLength > a.maxBody {
		return nil, a.tooLarge()
	}
	body, err := a.collect(http.MaxBytesReader(c.Writer, r.Body, a.maxBody), r.ContentLength, held)
	if err == nil && encoded(r.Header["Content-Encoding"]) {
		err = errEncoded
	}
	return body, err
}

// collect reads a body. It claims memory for what has arrived, not for what Content-Length announces.
func (a *API) collect(from io.Reader, announced int64, held *limit.Claim) ([]byte, error) {
	if announced == 0 {
		return nil, nil
	}
	body := make([]byte, 0, firstBodyHeld)
	for {
		if len(body) == cap(body) {
			size := 2 * cap(body)
			if announced >= int64(len(body)) {
				size = min(size, int(announced)+1)
			}
			if held.Resize(int64(bodyFactor*size)) != nil {
				return nil, errNoRoom
			}
			body = append(make([]byte, 0, size), body...)
		}
		n, err := from.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			return body, nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, errSlow
		case errors.As(err, new(*http.MaxBytesError)):
			return nil, a.tooLarge()
		default:
			return nil, errBroken
		}
	}
}

// encoded reports whether a Content-Encoding names more than identity.
func encoded(lines []string) bool {
	for _, line := range lines {
		for coding := range strings.SplitSeq(line, ",") {
			if coding = strings.Trim(coding, " \t"); coding != "" && !strings.EqualFold(coding, "identity") {
				return true
			}
		}
	}
	return false
}

// receiver is an endpoint that creates or changes a paste with the body.
type receiver func(context.Context, *gin.Context, []byte) (paste.Document, error)

// accept runs an endpoint that takes a body. The body's memory is free before the answer is sent.
func (a *API) accept(endpoint receiver, answer func(*gin.Context, *paste.Document) error) gin.HandlerFunc {
	return func(c *gin.Context) {
		stored, err := a.take(c, endpoint)
		if err == nil {
			err = answer(c, &stored)
		}
		if err != nil {
			a.fail(c, err)
		}
	}
}

// take receives the body and runs the endpoint. The deadline begins once the body has arrived.
func (a *API) take(c *gin.Context, endpoint receiver) (paste.Document, error) {
	held := a.claim(c.Request)
	defer held.Release()
	body, err := a.receive(c, &held)
	if err != nil {
		return paste.Document{}, err
	}
	ctx, cancel := a.deadline(c.Request)
	defer cancel()
	if err := a.signIn(ctx, c); err != nil {
		return paste.Document{}, err
	}
	return endpoint(moderation.From(ctx, a.address(c.Request)), c, body)
}

// After a body is refused, up to maxDropped bytes of it are read and dropped for at most this time: otherwise a client that sends its
// whole body before it reads sees a reset connection instead of the answer.
const (
	maxDropped = 32 << 20
	dropping   = time.Second / 2
)

// refuse answers with a refusal. Except for 415, it closes the connection: what is left of a body would be parsed as the next request.
func (a *API) refuse(c *gin.Context, r *refusal) {
	header := c.Writer.Header()
	switch r.status {
	case http.StatusUnsupportedMediaType:
		header["Accept-Encoding"] = []string{"identity"}
	case http.StatusServiceUnavailable:
		header["Retry-After"] = []string{retryAfterSeconds}
		fallthrough
	default:
		header["Connection"] = closeConnection
	}
	connection := http.NewResponseController(c.Writer)
	drop := r.unread && c.Request.Header["Expect"] == nil && connection.EnableFullDuplex() == nil
	a.problem(c, r.status, r.message)
	if drop && connection.SetReadDeadline(time.Now().Add(dropping)) == nil && connection.Flush() == nil {
		_, _ = io.CopyN(io.Discard, c.Request.Body, maxDropped) // best effort
	}
}
