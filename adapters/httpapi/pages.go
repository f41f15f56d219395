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
	// Routes returns the patterns of all paths, such as /:id, and the methods that each takes, as the header Allow has
	// them. A hidden one has none: Answer gets its GET, HEAD and POST, and for others there is no page.
	Routes() map[string]string
	// Route finds the route of a request, sets the request's pattern and path values, and returns the pattern, or "". It is called
	// before Token and Answer.
	Route(r *http.Request) string
	// Token returns the session's secret that a request presents, or "", and whether Answer will try another secret.
	Token(r *http.Request) (presented string, tries bool)
	// Answer answers a request for one of the routes with one of its methods. The body has arrived; URL.Scheme and Host
	// are what the client asked for, if known, and RemoteAddr is its address, without a port. It returns the user of the
	// session, or "", and whether it rejected a secret: that of the session if there is no user, or else another one.
	// After an error, everything written or set is dropped, except a cookie cleared with a rejected secret. The answer to
	// a read may be made twice. A page that is too long to collect calls Flush (http.ResponseController) before it writes.
	// Then each Write goes to the client, and an error ends the answer early. It calls Hold(bytes int64, waits bool) error
	// of w before it keeps more in memory than 16 KiB. An answer with the header No-Gzip-Compression, which no client
	// sees, is not compressed.
	Answer(w http.ResponseWriter, r *http.Request) (reader user.ID, rejected bool, err error)
	// AnswerError shows an error to a client that prefers HTML. It reports whether it rejected the session's secret.
	AnswerError(w http.ResponseWriter, r *http.Request, status int, message string) (rejected bool)
}

// isPage reports whether there are pages, and a request is for something outside the interface.
func (a *API) isPage(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/") && a.cfg.Pages != nil && !a.own[firstSegment(r.URL.Path)] && !a.isUpload(r)
}

func firstSegment(path string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return first
}

// isRawLink reports whether there are pages, and people may follow a link to what a request reads from the interface.
func (a *API) isRawLink(r *http.Request) bool {
	return a.cfg.Pages != nil && reads(r) && strings.HasPrefix(r.URL.Path, a.cfg.BasePath+"/raw/")
}

// pageKey is the context key of the pattern of a request's page.
const pageKey = "page"

// hiddenMethods are those that a hidden page may take.
const hiddenMethods = "GET, HEAD, POST"

// page answers a request for the page with that pattern.
func (a *API) page(c *gin.Context, pattern string) {
	allowed := a.pageMethods[pattern]
	hidden := allowed == ""
	if hidden {
		allowed = hiddenMethods
	}
	switch method := c.Request.Method; {
	case hidden && !slices.Contains(strings.Split(allowed, ", "), method):
		a.nothing(c)
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

// answerPage collects a page before it sends the first byte, so that a failure half-way can still become an error. A
// page without Cache-Control gets an ETag. If there is no memory for the answer to a read, its length is counted, and
// it is made again once that much is free.
func (a *API) answerPage(c *gin.Context) error {
	w := a.newPage(c)
	defer w.claim.Release()
	reader, rejected, err := a.makePage(w, c)
	if err == nil && w.short {
		again := a.newPage(c)
		defer again.claim.Release()
		if err = again.claim.Transfer(patient(c.Request), w.length); err == nil {
			again.text = make([]byte, 0, w.length)
			reader, rejected, err = a.makePage(again, c)
		}
		if w = again; err == nil && w.short {
			err = limit.ErrNoMemory
		}
	}
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
		etag = etagOf(xxhash.Sum64(w.text))
	}
	encoding := encode
	if strings.Contains(w.header.Get("Cache-Control"), "immutable") { // one of the program's files
		encoding = encodeFile
	}
	text := w.text
	w.text = nil // what is sent may be shorter
	sendEncoded(c, w.status, w.header["Content-Type"], etag, text, encoding)
	return nil
}

// errElsewhere refuses forms of other sites: browsers may send this site's cookies with them.
var errElsewhere = &refusal{http.StatusForbidden, "This was sent by a page of another site. Open the page here, and try again.", false}

func (a *API) makePage(w http.ResponseWriter, c *gin.Context) (reader user.ID, rejected bool, err error) {
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
	ctx, cancel := a.deadline(r, true)
	defer cancel()
	r = r.WithContext(ctx)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return a.cfg.Pages.Answer(w, r)
}

// pageLength is about how long the page of a paste of 2 KiB is, and what a request may hold without a claim. A buffer that grew to
// this length would take as much memory again.
const pageLength = limit.Uncounted

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
	w.text = append(make([]byte, 0, capacity), w.text...)
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
// for two seconds if it may, and fails with fault.Unavailable.
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
