package httpapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/domain/fault"
)

// A body is held in memory up to maxBodyHeld while it arrives: a client may take as long as the read timeout to send it, and
// many may do so at once. What is longer waits in a file that has no name (decision 0035).
const (
	firstBodyHeld = 4 << 10
	maxBodyHeld   = 64 << 10
)

// body is that of a request which has arrived.
type body struct {
	size int64
	held []byte   // nil when it is in file
	file *os.File // nil unless the body is long
}

// refusal is an answer to a body for which there is no kind of fault: HTTP alone has a rule that it breaks.
type refusal struct {
	status  int
	message string
}

func (r *refusal) Error() string { return r.message }

var (
	errEncoded = &refusal{http.StatusUnsupportedMediaType, "Send the body as it is: this server takes no Content-Encoding."}
	errSlow    = &refusal{http.StatusRequestTimeout, "The body did not arrive in time."}
	errBroken  = &refusal{http.StatusBadRequest, "The body ended early, or is not chunked as HTTP has it."}
)

// receive returns the body of a request when all of it has arrived. It fails with a refusal for one that is too large, which
// it does not read to the end, that is encoded, or does not arrive; and with fault.Unavailable when no file takes it.
func (a *API) receive(r *http.Request) (*body, error) {
	b := new(body)
	err := a.refuseLarge(r.ContentLength)
	if err == nil && r.ContentLength != 0 {
		err = a.collect(b, r)
	}
	if err == nil && encoded(r.Header["Content-Encoding"]) {
		err = errEncoded
	}
	if err != nil {
		b.release()
		return nil, err
	}
	return b, nil
}

func (a *API) refuseLarge(size int64) error {
	if size > a.maxBody {
		return &refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("The body is larger than %d bytes.", a.maxBody)}
	}
	return nil
}

// collect reads the body.
func (a *API) collect(b *body, r *http.Request) error {
	connection, served := r.Context().Value(connectionKey{}).(*connection)
	if served {
		if a.draining.Load() { // Server allows a moment only for what nobody reads
			_ = connection.SetReadDeadline(time.Now().Add(a.readTimeout))
		}
		defer connection.waiting.Store(0) // it is the client who waits now
	}
	b.held = make([]byte, 0, firstBodyHeld)
	for {
		if len(b.held) == cap(b.held) {
			if err := b.makeRoom(); err != nil {
				return err
			}
		}
		n, err := r.Body.Read(b.held[len(b.held):cap(b.held)])
		b.held = b.held[:len(b.held)+n]
		if b.size += int64(n); b.size > a.maxBody {
			return a.refuseLarge(b.size)
		}
		switch {
		case errors.Is(err, io.EOF):
			return b.complete()
		case errors.Is(err, os.ErrDeadlineExceeded):
			return errSlow
		case err != nil:
			return errBroken
		}
	}
}

// makeRoom is for a buffer that is full.
func (b *body) makeRoom() error {
	if cap(b.held) < maxBodyHeld {
		b.held = append(make([]byte, 0, 2*cap(b.held)), b.held...)
		return nil
	}
	return b.moveToFile()
}

func (b *body) moveToFile() (err error) {
	if b.file == nil {
		b.file, err = unnamedFile("gluepot-body-")
	}
	if err == nil {
		_, err = b.file.Write(b.held)
	}
	if err != nil {
		return fault.Wrap(fault.Unavailable, "The body is long, and there is no room for it at the moment.",
			fmt.Errorf("a file for a long body: %w", err))
	}
	b.held = b.held[:0]
	return nil
}

// complete leaves the body in one place.
func (b *body) complete() error {
	if b.file == nil {
		return nil
	}
	err := b.moveToFile()
	b.held = nil
	return err
}

func (b *body) release() {
	if b.file != nil {
		_ = b.file.Close()
	}
}

// long reports whether the body is worth a place among few.
func (b *body) long() bool { return b.file != nil }

// text returns all that the body holds.
func (b *body) text() (string, error) {
	if b.file == nil {
		return string(b.held), nil
	}
	var text strings.Builder
	text.Grow(int(b.size))
	if _, err := io.Copy(&text, io.NewSectionReader(b.file, 0, b.size)); err != nil {
		return "", err
	}
	return text.String(), nil
}

// reader returns the body for those who read it once.
func (b *body) reader() io.ReadCloser {
	if b.file == nil {
		return io.NopCloser(bytes.NewReader(b.held))
	}
	return io.NopCloser(io.NewSectionReader(b.file, 0, b.size))
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

// longBodies lets a few requests with long bodies in at once, in the order in which they came: what is made of a body takes
// several times its size in memory, and a processor.
type longBodies chan struct{}

// newLongBodies leaves half of the processors to everybody else.
func newLongBodies() longBodies { return make(longBodies, max(1, runtime.GOMAXPROCS(0)/2)) }

var errManyLong = fault.New(fault.Unavailable, "Too many long requests at once. Try again.")

// enter waits for a place, which leave gives up. It fails with fault.Unavailable when three quarters of the time until the
// deadline are over: who got a place later would often have to be refused after all the work.
func (l longBodies) enter(ctx context.Context, b *body) (leave func(), err error) {
	if !b.long() {
		return func() {}, nil
	}
	leave = func() { <-l }
	select {
	case l <- struct{}{}:
		return leave, nil
	default:
	}
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(deadline)*3/4)
		defer cancel()
	}
	select {
	case l <- struct{}{}:
		return leave, nil
	case <-ctx.Done():
		return nil, errManyLong
	}
}

// accept runs an endpoint that takes a body. Its deadline begins when the body has arrived. While the client reads the answer,
// the body and what was made of it are gone.
func (a *API) accept(endpoint func(context.Context, *gin.Context, *body) (*longAnswer, error)) gin.HandlerFunc {
	return func(c *gin.Context) {
		answer, err := a.take(c, endpoint)
		if err == nil {
			defer answer.release()
			err = answer.send(c, jsonContentType)
		}
		if err != nil {
			a.fail(c, err)
		}
	}
}

func (a *API) take(c *gin.Context, endpoint func(context.Context, *gin.Context, *body) (*longAnswer, error)) (*longAnswer, error) {
	b, err := a.receive(c.Request)
	if err != nil {
		return nil, err
	}
	defer b.release()
	ctx, cancel := a.deadlines.context(c.Request.Context())
	defer cancel()
	leave, err := a.longBodies.enter(ctx, b)
	if err != nil {
		return nil, err
	}
	defer leave()
	return endpoint(ctx, c, b)
}

// refuse answers with a refusal. The rest of a body that was not read to the end is neither waited for nor taken for the next
// request, but dropped for a moment, so that the client sees the answer.
func (a *API) refuse(c *gin.Context, r *refusal) {
	header := c.Writer.Header()
	if r == errEncoded {
		header["Accept-Encoding"] = []string{"identity"}
	} else {
		header["Connection"] = closeConnection
		if connection, ok := c.Request.Context().Value(connectionKey{}).(*connection); ok {
			connection.last.Store(true)
		}
	}
	a.problem(c, r.status, r.message)
}
