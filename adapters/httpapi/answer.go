package httpapi

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/adapters/httpapi/limit"
)

// buffer holds the body of a request or an answer, and claims memory as it grows. An answer is collected before its first byte is sent:
// so its length and ETag are known, and a failure half-way can still become an error.
type buffer struct {
	limit.Claim

	text   []byte
	factor int64 // how many times its length it takes in memory
	exempt bool  // from the memory budget, because the content exists nowhere else any more
	fixed  bool  // it does not grow beyond its capacity
}

func (a *API) newBuffer(r *http.Request, factor int64) *buffer {
	return &buffer{Claim: a.claim(r), factor: factor}
}

// claim returns an empty claim for the request.
func (a *API) claim(r *http.Request) limit.Claim { return a.memory.Claim(string(counted(r))) }

// Write implements io.Writer. It fails with fault.Unavailable when there is no memory.
func (b *buffer) Write(p []byte) (int, error) {
	if err := b.Resize(b.factor * int64(len(b.text)+len(p))); err != nil && !b.exempt {
		return 0, err
	}
	if b.fixed && len(b.text)+len(p) > cap(b.text) {
		return 0, io.ErrShortBuffer
	}
	b.text = append(b.text, p...)
	return len(p), nil
}

// sendBody answers with a body, or with 304 if the client has one with that ETag; nil: there is none.
func sendBody(c *gin.Context, status int, contentType, etag []string, body []byte) {
	if begin(c, status, contentType, etag, int64(len(body))) {
		_, _ = c.Writer.Write(body) // a client that has gone cannot be told
	}
}

func sendJSON(c *gin.Context, v any) { sendBody(c, http.StatusOK, jsonContentType, nil, encodeJSON(v)) }

// encodeJSON encodes v, without escapes for HTML.
func encodeJSON(v any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil { // what we send can be encoded
		panic(err)
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}

// selfCounted is the longest body whose Content-Length is left to net/http, which counts what it buffers: 2 KiB in Go 1.26. A ninth header
// would make the map of them grow, for a sixth of the time of a small answer.
const selfCounted = 1 << 10

// begin sets status and header for a body of that type and length, and reports whether the body is to follow. None follows HEAD, and the
// 304 for a client that has an answer with that ETag.
func begin(c *gin.Context, status int, contentType, etag []string, length int64) bool {
	header := c.Writer.Header()
	if header["Cache-Control"] == nil {
		header["Cache-Control"] = noCache
	}
	if etag != nil {
		header["Etag"] = etag
		if matchesETag(c.Request.Header["If-None-Match"], etag[0]) {
			delete(header, "Content-Encoding")
			c.Status(http.StatusNotModified) // whose headers are set (RFC 9110, 15.4.5)
			c.Writer.WriteHeaderNow()
			return false
		}
	}
	header["Content-Type"] = contentType
	head := c.Request.Method == http.MethodHead
	if length > selfCounted || head || status != http.StatusOK { // an error may be flushed before its end
		header["Content-Length"] = []string{strconv.FormatInt(length, 10)}
	}
	c.Status(status)
	c.Writer.WriteHeaderNow()
	return !head
}

var (
	privateHeader        = []string{"private, no-store"}    // for answers to a token (RFC 9111, 5.2.2)
	noCache              = []string{"no-cache"}             // the default: caches revalidate (RFC 9111, 5.2.2.4)
	languageCacheControl = []string{"public, max-age=3600"} // the catalogue changes only with the program
)

// etagOf returns the ETag of an answer with that hash, the same on every node, if it is to have one.
func etagOf(tagged bool, sum uint64) []string {
	if !tagged {
		return nil
	}
	return []string{`"` + base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, sum)) + `"`}
}

// matchesETag uses the weak comparison of If-None-Match (RFC 9110, 13.1.2).
func matchesETag(ifNoneMatch []string, etag string) bool {
	return slices.ContainsFunc(strings.Split(strings.Join(ifNoneMatch, ","), ","), func(candidate string) bool {
		candidate = strings.Trim(candidate, " \t")
		return candidate == "*" || strings.TrimPrefix(candidate, "W/") == etag
	})
}

// fixedAnswer is an answer that never changes while the program runs.
type fixedAnswer struct {
	header            http.Header // what is not the same for every answer
	contentType, etag []string
	body              []byte
}

// newFixedAnswer returns an answer that varies by Origin alone, as CORS has it.
func newFixedAnswer(contentType []string, body []byte) *fixedAnswer {
	return &fixedAnswer{header: http.Header{"Vary": {"Origin"}}, contentType: contentType, etag: etagOf(true, xxhash.Sum64(body)), body: body}
}

func (f *fixedAnswer) send(c *gin.Context) {
	maps.Copy(c.Writer.Header(), f.header)
	sendBody(c, http.StatusOK, f.contentType, f.etag, f.body)
}
