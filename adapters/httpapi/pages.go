package httpapi

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/adapters/httpapi/limit"
	"github.com/gluepot/gluepot/adapters/internal/route"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

// Pages are for people. The same limits, deadlines, log and metrics apply to them as to the API. A path whose first
// segment is an endpoint's belongs to the API.
type Pages interface {
	Routes
	// SessionSecret returns the session's secret that a request for an unknown path presents, or "".
	SessionSecret(r *http.Request) string
	// AnswerError shows an error to a client that prefers HTML. It reports whether it rejected the session's secret.
	AnswerError(w http.ResponseWriter, r *http.Request, status int, message string) (rejected bool)
}

// Routes are what the API's router serves for another adapter.
type Routes interface {
	// Routes returns all paths of the adapter.
	Routes() []route.Page
}

// isRawLink reports whether a request reads raw text, to which pages have links that people follow.
func (a *API) isRawLink(r *http.Request) bool {
	return a.cfg.Pages != nil && reads(r) && strings.HasPrefix(r.URL.Path, a.cfg.BasePath+"/raw/")
}

// pageKey is the key of gin's context under which a request's page is kept.
const pageKey = "page"

// pageOf returns the page that a request is for: API.unknown if there is no route, or nil if the path is the API's.
func pageOf(c *gin.Context) *route.Page {
	page, _ := c.Value(pageKey).(*route.Page)
	return page
}

// servePage registers a page.
func (a *API) servePage(page route.Page) {
	admit, handlers, allowed := a.admitReader(&page), make(byMethod), ""
	if page.Get != nil {
		handlers[http.MethodGet] = a.chain(admit, a.page(page.Get))
		handlers[http.MethodHead] = handlers[http.MethodGet]
		allowed = "GET, HEAD, "
	}
	if page.Post != nil {
		handlers[http.MethodPost] = a.chain(admit, a.page(page.Post))
		allowed += "POST, "
	}
	if strings.LastIndex(page.Path, "/") == 0 {
		handlers[http.MethodPut] = a.orUpload(a.admitUnknown, a.notFound)
		allowed += "PUT, "
	}
	if page.Path == "/" && page.Post != nil {
		handlers[http.MethodPost] = a.orUpload(admit, a.page(page.Post))
	}
	allowed += http.MethodOptions
	others := a.chain(admit, a.notFound)
	if !page.Hidden {
		handlers[http.MethodOptions] = a.chain(admit, func(c *gin.Context) { answerOptions(c, allowed) })
		others = a.chain(admit, a.methodNotAllowed(allowed))
	}
	a.serve(page.Path, handlers, others)
}

// admitReader makes the handler that passes on a request for a page that is within the limits.
func (a *API) admitReader(page *route.Page) gin.HandlerFunc {
	return func(c *gin.Context) {
		isAPI := page != &a.unknown && a.isAPIPath(c.Request) // the page's pattern may match paths of the API
		if isAPI {
			a.admitCall(c)
		} else {
			c.Set(pageKey, page)
			if page.Everyone && page.Post == nil {
				c.Request.Header.Del("Cookie")
			}
			secret, tries := page.Secret(c.Request)
			a.admit(c, secret, tries)
		}
		if !c.IsAborted() && (isAPI || lacksParameter(c)) {
			a.notFound(c)
			c.Abort()
		}
	}
}

// page makes the handler of a page.
func (a *API) page(answer route.Handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		switch err := a.answerPage(c, answer); {
		case fault.Is(err, fault.NotFound):
			a.fail(c, errNotFound)
		case err != nil:
			a.fail(c, err)
		}
	}
}

// answerPage buffers a page before it sends the first byte, so that a failure half-way can still become an error page.
// A page without Cache-Control gets an ETag. If there is no memory for the answer to a read, only its length is
// counted, and it is produced again once that much is free.
func (a *API) answerPage(c *gin.Context, answer route.Handler) error {
	w := a.newPage(c)
	defer func() { w.release() }()
	reader, rejected, err := a.makePage(w, c, answer)
	if err == nil && w.noMemory {
		retry := a.newPage(c)
		defer w.release()
		if err = retry.claim.Transfer(patient(c.Request), w.length); err == nil {
			retry.text = make([]byte, 0, w.length)
			reader, rejected, err = a.makePage(retry, c, answer)
		}
		if w = retry; err == nil && w.noMemory {
			err = limit.ErrNoMemory
		}
	}
	secret, _ := pageOf(c).Secret(c.Request)
	switch {
	case secret != "" && fault.Is(err, fault.Unauthenticated): // the session has ended since it was resumed
		a.limits.NoteInvalid(c.Request, secret)
	case reader != "":
		a.limits.NoteValid(secret, reader)
		if rejected {
			a.limits.NoteFailure(c.Request)
		}
	case rejected:
		a.limits.NoteInvalid(c.Request, secret)
	}
	if w.streams {
		if err != nil && w.writeErr == nil { // cut off the stream without its last chunk, so that the client notices
			c.Set(causeKey, err)
			_ = http.NewResponseController(c.Writer).SetWriteDeadline(time.Unix(1, 0))
		}
		return nil
	}
	if err != nil {
		if cookies := w.header["Set-Cookie"]; rejected && cookies != nil {
			c.Writer.Header()["Set-Cookie"] = cookies
		}
		return err
	}
	if w.status == http.StatusTooManyRequests && a.cfg.OnLimited != nil {
		a.cfg.OnLimited(limit.AnonymousPastes) // the only limit that pages apply
	}
	maps.Copy(w.to.Writer.Header(), w.header)
	var etag []string
	if w.status == http.StatusOK && w.header["Cache-Control"] == nil {
		etag = etagOf(xxhash.Sum64(w.text))
	}
	encoding := encode
	if strings.Contains(w.header.Get("Cache-Control"), "immutable") { // one of the program's own files
		encoding = encodeFile
	}
	text := w.text
	if cap(text) > pageLength {
		w.text = nil // free it: the compressed page is shorter
	}
	sendEncoded(c, w.status, w.header["Content-Type"], etag, text, encoding)
	return nil
}

// errCrossSiteForm refuses forms of other sites, with which browsers may send this site's cookies.
var errCrossSiteForm = &refusal{http.StatusForbidden,
	"A page of another site sent this request. Open the page on this site, and try again.", false}

// makePage receives the body of a request, and lets the page's handler answer.
func (a *API) makePage(
	w http.ResponseWriter, c *gin.Context, answer route.Handler,
) (reader user.ID, rejected bool, err error) {
	r, claim := c.Request, a.newClaim(c.Request)
	defer claim.Release()
	var body []byte
	if r.Method == http.MethodPost {
		if a.origins.Check(r) != nil {
			return "", false, errCrossSiteForm
		}
		if body, err = a.receive(c, &claim); err != nil {
			return "", false, err
		}
		if page, ok := w.(*pageWriter); ok {
			page.received = &claim
		}
	}
	ctx, cancel := a.deadline(r)
	defer cancel()
	r = r.WithContext(ctx)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	for _, parameter := range c.Params {
		r.SetPathValue(parameter.Key, parameter.Value)
	}
	return answer(w, r)
}

// pageLength is about the length of the page of a 2 KiB paste, and what a request may hold without a claim. A buffer
// that grew to this length would take twice the memory.
const pageLength = limit.Uncounted

// pageBuffers has buffers for pages of up to pageLength.
var pageBuffers = sync.Pool{New: func() any { return new([pageLength]byte) }}

// pageWriter is the http.ResponseWriter of a page.
type pageWriter struct {
	header   http.Header
	status   int          // 0 until WriteHeader
	received *limit.Claim // of the request's body, or nil
	text     []byte
	claim    limit.Claim // of memory for the text, or for the source of a stream
	length   int64       // of everything written
	noMemory bool        // what is written is only counted
	share    int64       // what one client may claim
	to       *gin.Context
	streams  bool
	writeErr error // the first one
}

func (a *API) newPage(c *gin.Context) *pageWriter {
	return &pageWriter{header: c.Writer.Header().Clone(), claim: a.newClaim(c.Request), share: a.memory.Share(), to: c}
}

func (w *pageWriter) Header() http.Header { return w.header }

func (w *pageWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// Write implements http.ResponseWriter. It fails if the client stops reading a stream.
func (w *pageWriter) Write(p []byte) (n int, err error) {
	w.WriteHeader(http.StatusOK)
	if w.streams {
		if w.writeErr == nil {
			n, w.writeErr = w.to.Writer.Write(p)
		}
		return n, w.writeErr
	}
	w.length += int64(len(p))
	if w.length > int64(cap(w.text)) && !w.noMemory {
		w.grow()
	}
	if !w.noMemory {
		w.text = append(w.text, p...)
	}
	return len(p), nil
}

// grow makes room for everything written, and claims memory for it. The answer to a form is sent in any case: it may be
// the only copy of what the visitor wrote.
func (w *pageWriter) grow() {
	capacity := max(w.length, 2*int64(cap(w.text)), pageLength)
	if !w.claim.Try(capacity) {
		if reads(w.to.Request) {
			w.noMemory, w.text = true, nil
			w.claim.Release()
			return
		}
		w.claim.Force(capacity)
	}
	text := w.text
	if capacity == pageLength {
		w.text = pageBuffers.Get().(*[pageLength]byte)[:0] //nolint:forcetypeassert // nothing else is in it
	} else {
		w.text = make([]byte, 0, capacity)
	}
	w.text = append(w.text, text...)
	putBuffer(text)
}

func putBuffer(text []byte) {
	if cap(text) == pageLength {
		pageBuffers.Put((*[pageLength]byte)(text[:pageLength]))
	}
}

// release returns the page's memory.
func (w *pageWriter) release() {
	w.claim.Release()
	putBuffer(w.text)
	w.text = nil
}

// FlushError begins a stream. It must precede the first Write.
func (w *pageWriter) FlushError() error {
	if w.streams {
		return nil
	}
	if w.received != nil { // a client that reads slowly holds its answer alone
		w.received.Release()
	}
	w.WriteHeader(http.StatusOK)
	w.streams = true
	maps.Copy(w.to.Writer.Header(), w.header)
	w.to.Status(w.status)
	w.to.Writer.WriteHeaderNow()
	return nil
}

// Share returns the most that Hold claims.
func (w *pageWriter) Share() int64 { return w.share }

// Hold claims memory for the source of a stream, in place of its last claim. Without memory it fails with fault.Busy:
// at once, or after two seconds if waits is set.
func (w *pageWriter) Hold(bytes int64, waits bool) error {
	bytes = min(bytes, w.share)
	if w.claim.Try(bytes) {
		return nil
	}
	if !waits {
		return limit.ErrNoMemory
	}
	return w.claim.Transfer(patient(w.to.Request), bytes)
}
