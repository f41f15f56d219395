package httpapi

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/adapters/httpapi/limit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

// Pages answers paths outside the interface with pages for people, behind the same limits, deadlines, log and metrics. A path belongs to
// the interface if its first segment is that of one of its endpoints.
type Pages interface {
	// Routes returns the patterns of all paths, such as /:id, and the methods that each takes, as the header Allow has them.
	Routes() map[string]string
	// Route finds the route of a request, sets the request's pattern and path values, and returns the pattern, or "". It is called
	// before Token and Answer.
	Route(r *http.Request) string
	// Token returns the session's secret that a request presents, or "", and whether Answer will try another secret.
	Token(r *http.Request) (presented string, tries bool)
	// Answer answers a request for one of the routes with one of its methods. The body has arrived; URL.Scheme and Host are what
	// the client asked for, if known, and RemoteAddr is the paste.Client for quotas. It returns the user of the session, or "", and whether it
	// rejected a secret: that of the session if there is no user, or else another one. After an error, everything written or set is
	// dropped, except a cookie cleared with a rejected secret.
	// A page that is too long to collect calls Flush (http.ResponseController) before it writes. Then each Write goes to the client,
	// within a minute, and an error ends the answer early.
	Answer(w http.ResponseWriter, r *http.Request) (reader user.ID, rejected bool, err error)
	// AnswerError shows an error to a client that prefers HTML. It reports whether it rejected the session's secret.
	AnswerError(w http.ResponseWriter, r *http.Request, status int, message string) (rejected bool)
}

// isPage reports whether there are pages, and a decoded path is outside the interface.
func (a *API) isPage(path string) bool {
	first, ok := strings.CutPrefix(path, "/")
	first, _, _ = strings.Cut(first, "/")
	return ok && a.cfg.Pages != nil && !a.own[first]
}

// pageKey is the context key of the pattern of a request's page.
const pageKey = "page"

// page answers a request for the page with that pattern.
func (a *API) page(c *gin.Context, pattern string) {
	allowed := a.pageMethods[pattern]
	switch method := c.Request.Method; {
	case method == http.MethodOptions:
		answerOptions(c, allowed)
	case !slices.Contains(strings.Split(allowed, ", "), method):
		a.notAllowed(c, allowed)
	default:
		if err := a.answerPage(c); fault.Is(err, fault.NotFound) {
			a.fail(c, errNothing)
		} else if err != nil {
			a.fail(c, err)
		}
	}
}

// answerPage collects a page before it sends the first byte, so that a failure half-way can still become an error. A page without
// Cache-Control gets an ETag.
func (a *API) answerPage(c *gin.Context) error {
	w := &pageWriter{
		header: c.Writer.Header().Clone(), answer: a.newBuffer(c.Request, 1), to: c, claimed: int64(a.cfg.PasteMaxBody),
	}
	defer w.answer.Release()
	reader, rejected, err := a.makePage(w, c)
	secret, _ := a.cfg.Pages.Token(c.Request)
	switch {
	case secret != "" && fault.Is(err, fault.Unauthenticated): // the session has ended since it was resumed
		a.limits.Rejected(c.Request, secret)
	case reader != "":
		a.limits.Proven(secret, reader)
		if rejected {
			a.limits.Failed(c.Request)
		}
	case rejected:
		a.limits.Rejected(c.Request, secret)
	}
	if w.streams {
		if err != nil && w.gone == nil { // the stream is cut off, so that the client notices: not even the last chunk leaves
			c.Set(causeKey, err)
			_ = http.NewResponseController(c.Writer).SetWriteDeadline(time.Unix(1, 0))
		}
		return nil
	}
	if err != nil {
		if cleared := w.header["Set-Cookie"]; rejected && cleared != nil {
			c.Writer.Header()["Set-Cookie"] = cleared
		}
		return err
	}
	if w.status == http.StatusTooManyRequests && a.cfg.OnLimited != nil {
		a.cfg.OnLimited(limit.AnonymousPastes) // the only limit that pages apply
	}
	maps.Copy(w.to.Writer.Header(), w.header)
	var etag []string
	if w.status == http.StatusOK && w.header["Cache-Control"] == nil {
		etag = etagOf(xxhash.Sum64(w.answer.text))
	}
	sendBody(c, w.status, w.header["Content-Type"], etag, w.answer.text)
	return nil
}

// errElsewhere refuses forms of other sites: browsers may send this site's cookies with them.
var errElsewhere = &refusal{http.StatusForbidden, "This was sent by a page of another site. Open the page here, and try again.", false}

func (a *API) makePage(w http.ResponseWriter, c *gin.Context) (reader user.ID, rejected bool, err error) {
	r, sent := c.Request, a.newBuffer(c.Request, bodyFactor)
	defer sent.Release()
	if r.Method == http.MethodPost {
		if a.origins.Check(r) != nil {
			return "", false, errElsewhere
		}
		if err := a.receive(c, &sent); err != nil {
			return "", false, err
		}
	}
	ctx, cancel := a.deadline(r, true)
	defer cancel()
	r = r.WithContext(ctx)
	r.RemoteAddr = string(counted(r))
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(sent.text)), int64(len(sent.text))
	return a.cfg.Pages.Answer(w, r)
}

// pageLength is about how long the page of a paste of 2 KiB is, and what a request may hold without a claim. A buffer that grew to
// this length would take as much memory again.
const pageLength = 16 << 10

// pageWriter is the http.ResponseWriter of a page.
type pageWriter struct {
	header  http.Header
	status  int // 0 until it is chosen
	answer  buffer
	to      *gin.Context
	claimed int64 // how much memory a stream claims for its source
	streams bool
	gone    error // the first error of writing to the client
}

func (w *pageWriter) Header() http.Header { return w.header }

func (w *pageWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// Write implements http.ResponseWriter. It fails when the budget of memory has no room for a long page, or the client stops
// reading a stream.
func (w *pageWriter) Write(p []byte) (n int, err error) {
	w.WriteHeader(http.StatusOK)
	if !w.streams {
		if w.answer.text == nil {
			w.answer.text = make([]byte, 0, pageLength)
		}
		return w.answer.Write(p)
	}
	if w.gone == nil { // a client may take a minute to read one write
		_ = http.NewResponseController(w.to.Writer).SetWriteDeadline(time.Now().Add(time.Minute)) // a recorder of tests has none
		n, w.gone = w.to.Writer.Write(p)
	}
	return n, w.gone
}

// Keep exempts the page from the memory budget, because its content exists nowhere else any more.
func (w *pageWriter) Keep() { w.answer.exempt = true }

// FlushError begins a stream, before anything is written. It fails with fault.Unavailable when the memory budget is used up.
func (w *pageWriter) FlushError() error {
	if w.streams {
		return nil
	}
	if err := w.answer.Resize(w.claimed); err != nil {
		return err
	}
	w.WriteHeader(http.StatusOK)
	w.streams = true
	maps.Copy(w.to.Writer.Header(), w.header)
	w.to.Writer.Header()["Connection"] = closeConnection // its deadlines have changed
	w.to.Status(w.status)
	w.to.Writer.WriteHeaderNow()
	return nil
}
