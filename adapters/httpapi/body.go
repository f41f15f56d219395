package httpapi

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/adapters/httpapi/limit"
)

// bodyFactor is how many times its length a body takes in memory: itself, the decoded texts, and the store's copies.
const bodyFactor = 6

// readAtOnce is how many bytes of a body are read at once.
const readAtOnce = 4 << 10

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

// receive collects the body of a request. It fails with a refusal when the body is too large, encoded or incomplete, or there is no memory
// for it: memory for what has arrived, not for what Content-Length announces.
func (a *API) receive(c *gin.Context, to *buffer) error {
	r := c.Request
	if r.ContentLength > a.maxBody {
		return a.tooLarge()
	}
	if r.ContentLength != 0 {
		_, err := io.CopyBuffer(to, http.MaxBytesReader(c.Writer, r.Body, a.maxBody), make([]byte, readAtOnce))
		switch {
		case err == nil:
		case errors.Is(err, limit.ErrNoMemory):
			return errNoRoom
		case errors.Is(err, os.ErrDeadlineExceeded):
			return errSlow
		case errors.As(err, new(*http.MaxBytesError)):
			return a.tooLarge()
		default:
			return errBroken
		}
	}
	if encoded(r.Header["Content-Encoding"]) {
		return errEncoded
	}
	return nil
}

// encoded reports whether a Content-Encoding names more than identity.
func encoded(lines []string) bool {
	return slices.ContainsFunc(strings.Split(strings.Join(lines, ","), ","), func(coding string) bool {
		coding = strings.Trim(coding, " \t")
		return coding != "" && !strings.EqualFold(coding, "identity")
	})
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
	if r == errEncoded {
		header["Accept-Encoding"] = []string{"identity"}
	} else {
		header["Connection"] = closeConnection
	}
	if r == errNoRoom {
		header["Retry-After"] = []string{retryAfterSeconds}
	}
	connection := http.NewResponseController(c.Writer)
	drop := r.unread && c.Request.Header["Expect"] == nil && connection.EnableFullDuplex() == nil
	a.problem(c, r.status, r.message)
	if drop && connection.SetReadDeadline(time.Now().Add(dropping)) == nil && connection.Flush() == nil {
		_, _ = io.CopyN(io.Discard, c.Request.Body, maxDropped) // best effort
	}
}
