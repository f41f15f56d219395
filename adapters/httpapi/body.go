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
	// bodyFactor is how many times its length a body takes while it is worked on: itself, the texts in it, what the store makes of them.
	bodyFactor = 6
)

// refusal is an answer to a request for which there is no kind of fault: HTTP alone has a rule that it breaks.
type refusal struct {
	status  int
	message string
	unread  bool // the rest of the body is still to come
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

// receive returns the body of a request when all of it has arrived. It fails with a refusal for one that is too large, which
// it does not read to the end, that is encoded, or does not arrive; or for which there is no memory.
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

// collect claims memory as the body arrives, not as it is announced: an announcement alone holds nothing.
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

// encoded reports whether a Content-Encoding has something to undo.
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

// receiver is an endpoint that takes a body and answers with the paste that it has made or changed.
type receiver func(context.Context, *gin.Context, []byte) (paste.Document, error)

// accept runs an endpoint that takes a body. While the client reads the answer, the body is gone.
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

// take begins the deadline when the body has arrived.
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

// Of a body that is refused, so much is dropped for so long after the answer: a client that sends all before it reads would
// otherwise see its connection reset, and no answer.
const (
	maxDropped = 32 << 20
	dropping   = time.Second / 2
)

// refuse answers with a refusal. The rest of a body that was not read to the end is not taken for the next request.
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
		_, _ = io.CopyN(io.Discard, c.Request.Body, maxDropped) // what comes later than that is lost
	}
}
