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

// Pages are for people, behind the same limits, deadlines, log and metrics as the interface. A path belongs to the
// interface if its first segment is that of one of its endpoints.
type Pages interface {
	// Routes returns the paths of all pages, which the router of the interface serves.
	Routes() []route.Page
	// SessionSecret returns the session's secret that a request for an unknown path presents, or "".
	SessionSecret(r *http.Request) string
	// AnswerError shows an error to a client that prefers HTML. It reports whether it rejected the session's secret.
	AnswerError(w http.ResponseWriter, r *http.Request, status int, message string) (rejected bool)
}

// isRawLink reports whether there are pages, and people may follow a link to what a request reads from the interface.
func (a *API) isRawLink(r *http.Request) bool {
	return a.cfg.Pages != nil && reads(r) && strings.HasPrefix(r.URL.Path, a.cfg.BasePath+"/raw/")
}

// pageKey is gin's key of a request's page.
const pageKey = "page"

// pageOf returns the page that a request is for, which is API.unknown if no route fits, or nil for the interface.
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
		handlers[http.MethodPut] = a.orUpload(a.admitUnknown, a.nothing)
		allowed += "PUT, "
	}
	if page.Path == "/" && page.Post != nil {
		handlers[http.MethodPost] = a.orUpload(admit, a.page(page.Post))
	}
	allowed += http.MethodOptions
	others := a.chain(admit, a.nothing)
	if !page.Hidden {
		handlers[http.MethodOptions] = a.chain(admit, func(c *gin.Context) { answerOptions(c, allowed) })
		others = a.chain(admit, a.notAllowed(allowed))
	}
	a.serve(page.Path, handlers, others)
}

// admitReader lets a request for a page go on if it is within the limits.
func (a *API) admitReader(page *route.Page) gin.HandlerFunc {
	return func(c *gin.Context) {
		own := page != &a.unknown && a.isOwn(c.Request) // the pattern also fits paths below those of endpoints
		if own {
			a.admitCall(c)
		} else {
			c.Set(pageKey, page)
			if page.Everyone && page.Post == nil {
				c.Request.Header.Del("Cookie")
			}
			secret, tries := page.Secret(c.Request)
			a.admit(c, secret, tries)
		}
		if !c.IsAborted() && (own || lacksParameter(c)) {
			a.nothing(c)
			c.Abort()
		}
	}
}

// page makes the handler of a page.
func (a *API) page(answer route.Handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		switch err := a.answerPage(c, answer); {
		case fault.Is(err, fault.NotFound):
			a.fail(c, errNothing)
		case err != nil:
			a.fail(c, err)
		}
	}
}

// answerPage collects a page before it sends the first byte, so that a failure half-way can still become an error. A
// page without Cache-Control gets an ETag. If there is no memory for the answer to a read, its length is counted, and
// it is made again once that much is free.
func (a *API) answerPage(c *gin.Context, answer route.Handler) error {
	w := a.newPage(c)
	defer func() { w.release() }()
	reader, rejected, err := a.makePage(w, c, answer)
	if err == nil && w.short {
		again := a.newPage(c)
		defer w.release()
		if err = again.claim.Transfer(patient(c.Request), w.length); err == nil {
			again.text = make([]byte, 0, w.length)
			reader, rejected, err = a.makePage(again, c, answer)
		}
		if w = again; err == nil && w.short {
			err = limit.ErrNoMemory
		}
	}
	secret, _ := pageOf(c).Secret(c.Request)
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
		etag = etagOf(xxhash.Sum64(w.text))
	}
	encoding := encode
	if strings.Contains(w.header.Get("Cache-Control"), "immutable") { // one of the program's files
		encoding = encodeFile
	}
	text := w.text
	if cap(text) > pageLength {
		w.text = nil // what is sent may be shorter
	}
	sendEncoded(c, w.status, w.header["Content-Type"], etag, text, encoding)
	return nil
}

// errElsewhere refuses forms of other sites: browsers may send this site's cookies with them.
var errElsewhere = &refusal{http.StatusForbidden,
	"This was sent by a page of another site. Open the page here, and try again.", false}

func (a *API) makePage(w http.ResponseWriter, c *gin.Context,
	answer route.Handler) (reader user.ID, rejected bool, err error) {
	r, claim := c.Request, a.newClaim(c.Request)
	defer claim.Release()
	var body []byte
	if r.Method == http.MethodPost {
		if a.origins.Check(r) != nil {
			return "", false, errElsewhere
		}
		if body, err = a.receive(c, &claim); err != nil {
			return "", false, err
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

// pageLength is about how long the page of a paste of 2 KiB is, and what a request may hold without a claim. A buffer
// that grew to this length would take as much memory again.
const pageLength = limit.Uncounted

// pageBuffers has the buffers of pages that are no longer than pageLength.
var pageBuffers = sync.Pool{New: func() any { return new([pageLength]byte) }}

// pageWriter is the http.ResponseWriter of a page.
type pageWriter struct {
	header  http.Header
	status  int // 0 until it is chosen
	text    []byte
	claim   limit.Claim // of memory for the text, or for what the source of a stream holds
	length  int64       // of all that was written
	short   bool        // there was no memory: what is written is counted and dropped
	share   int64       // the most that one client may claim
	to      *gin.Context
	streams bool
	gone    error // the first error of writing to the client
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

// Write implements http.ResponseWriter. It fails when the client stops reading a stream.
func (w *pageWriter) Write(p []byte) (n int, err error) {
	w.WriteHeader(http.StatusOK)
	if w.streams {
		if w.gone == nil {
			n, w.gone = w.to.Writer.Write(p)
		}
		return n, w.gone
	}
	w.length += int64(len(p))
	if w.length > int64(cap(w.text)) && !w.short {
		w.grow()
	}
	if !w.short {
		w.text = append(w.text, p...)
	}
	return len(p), nil
}

// grow makes room for all that was written, and claims memory for it. The answer to a form is sent in any case, as what
// was sent may be nowhere else.
func (w *pageWriter) grow() {
	capacity := max(w.length, 2*int64(cap(w.text)), pageLength)
	if !w.claim.Try(capacity) {
		if reads(w.to.Request) {
			w.short, w.text = true, nil
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
	keepBuffer(text)
}

func keepBuffer(text []byte) {
	if cap(text) == pageLength {
		pageBuffers.Put((*[pageLength]byte)(text[:pageLength]))
	}
}

// release gives back what the page holds.
func (w *pageWriter) release() {
	w.claim.Release()
	keepBuffer(w.text)
	w.text = nil
}

// FlushError begins a stream, before anything is written.
func (w *pageWriter) FlushError() error {
	if w.streams {
		return nil
	}
	w.WriteHeader(http.StatusOK)
	w.streams = true
	maps.Copy(w.to.Writer.Header(), w.header)
	w.to.Status(w.status)
	w.to.Writer.WriteHeaderNow()
	return nil
}

// Hold claims memory for what the source of a stream holds, in place of what it held before. If there is none, it waits
// for two seconds if it may, and fails with fault.Busy.
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
