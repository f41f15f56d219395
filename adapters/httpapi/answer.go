package httpapi

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/adapters/httpapi/limit"
)

// buffer holds the body of a request or an answer. An answer is collected before its first byte is sent: so its length and ETag are known,
// and a failure half-way can still become an error. A buffer claims memory chunk by chunk: growing one text would leave garbage.
type buffer struct {
	limit.Claim

	chunks [][]byte // full, except the last
	length int64
	factor int64 // how many times its length it takes in memory
	exempt bool  // from the memory budget, because the content exists nowhere else any more
}

// maxChunk is the size of chunks after the first ones, which suffice for most buffers.
const maxChunk = 64 << 10

var firstChunks = [...]int{4 << 10, 16 << 10}

func (a *API) newBuffer(r *http.Request, factor int64) *buffer {
	return &buffer{Claim: a.claim(r), factor: factor}
}

// Write implements io.Writer. It fails with fault.Unavailable when there is no room.
func (b *buffer) Write(p []byte) (int, error) { return add(b, p) }

// WriteString implements io.StringWriter.
func (b *buffer) WriteString(s string) (int, error) { return add(b, s) }

func add[T string | []byte](b *buffer, text T) (n int, err error) {
	for n < len(text) {
		last := len(b.chunks) - 1
		if last < 0 || len(b.chunks[last]) == cap(b.chunks[last]) {
			size := maxChunk
			if last < len(firstChunks)-1 {
				size = firstChunks[last+1]
			}
			if err := b.Resize(b.factor*b.length + int64(size)); err != nil && !b.exempt {
				return n, err
			}
			b.chunks = append(b.chunks, make([]byte, 0, size))
			last++
		}
		chunk := b.chunks[last]
		copied := copy(chunk[len(chunk):cap(chunk)], text[n:])
		b.chunks[last] = chunk[:len(chunk)+copied]
		b.length += int64(copied)
		n += copied
	}
	return n, nil
}

// join returns the content in one piece.
func (b *buffer) join() []byte {
	if len(b.chunks) == 1 {
		return b.chunks[0]
	}
	return bytes.Join(b.chunks, nil)
}

// send answers with the content and, if it is tagged, with an ETag.
func (b *buffer) send(c *gin.Context, status int, contentType []string, tagged bool) {
	var etag []string
	if tagged {
		hash := xxhash.New()
		for _, chunk := range b.chunks {
			_, _ = hash.Write(chunk) // cannot fail
		}
		etag = etagOf(hash.Sum64())
	}
	if !begin(c, status, contentType, etag, b.length) {
		return
	}
	c.Writer.WriteHeaderNow()
	for _, chunk := range b.chunks {
		if _, err := c.Writer.Write(chunk); err != nil { // a client that has gone cannot be told
			return
		}
	}
}

// measure hashes and counts what is written to it.
type measure struct {
	*xxhash.Digest

	length int64
}

// Write implements io.Writer.
func (m *measure) Write(p []byte) (int, error) {
	m.length += int64(len(p))
	return m.Digest.Write(p)
}

// WriteString implements io.StringWriter.
func (m *measure) WriteString(s string) (int, error) {
	m.length += int64(len(s))
	return m.Digest.WriteString(s)
}

// sendStream answers with the output of write, which it calls twice: first for the length and the ETag. It is for bodies too long to
// hold in memory.
func sendStream(c *gin.Context, contentType []string, tagged bool, write func(io.Writer) error) error {
	m := &measure{Digest: xxhash.New()}
	if err := write(m); err != nil {
		return err
	}
	var etag []string
	if tagged {
		etag = etagOf(m.Sum64())
	}
	if begin(c, http.StatusOK, contentType, etag, m.length) {
		_ = write(c.Writer) // a client that has gone cannot be told
	}
	return nil
}

// sendBody answers 200 with a body, or 304 if the client has one with that ETag; nil: there is none.
func sendBody(c *gin.Context, contentType, etag []string, body []byte) {
	if begin(c, http.StatusOK, contentType, etag, int64(len(body))) {
		_, _ = c.Writer.Write(body) // a client that has gone cannot be told
	}
}

func sendJSON(c *gin.Context, body []byte) { sendBody(c, jsonContentType, nil, body) }

func encodeAndSend(c *gin.Context, v any) error {
	body, err := encodeJSON(v)
	if err == nil {
		sendJSON(c, body)
	}
	return err
}

// encodeJSON encodes v, without escapes for HTML.
func encodeJSON(v any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}

// selfCounted is the longest body whose Content-Length is left to net/http, which saves two allocations. It counts what it buffers:
// 2 KiB in Go 1.26.
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
	if length > selfCounted || head {
		header["Content-Length"] = []string{strconv.FormatInt(length, 10)}
	}
	c.Status(status)
	if head {
		c.Writer.WriteHeaderNow()
	}
	return !head
}

var (
	privateHeader        = []string{"private, no-store"}    // for answers to a token (RFC 9111, 5.2.2)
	noCache              = []string{"no-cache"}             // the default: caches revalidate (RFC 9111, 5.2.2.4)
	languageCacheControl = []string{"public, max-age=3600"} // the catalogue changes only with the program
)

// etagOf returns the ETag of an answer with that hash, the same on every node.
func etagOf(sum uint64) []string {
	return []string{`"` + base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, sum)) + `"`}
}

// matchesETag uses the weak comparison of If-None-Match (RFC 9110, 13.1.2).
func matchesETag(ifNoneMatch []string, etag string) bool {
	for _, line := range ifNoneMatch {
		for candidate := range strings.SplitSeq(line, ",") {
			candidate = strings.Trim(candidate, " \t")
			if candidate == "*" || strings.TrimPrefix(candidate, "W/") == etag {
				return true
			}
		}
	}
	return false
}

// fixedAnswer is an answer that never changes while the program runs.
type fixedAnswer struct {
	contentType, etag []string
	caching           []string // Cache-Control; nil: no-cache
	policy            []string // Content-Security-Policy; nil: nothing is allowed
	encoding          []string // Content-Encoding; nil: none
	body              []byte
}

func newFixedAnswer(contentType []string, body []byte) *fixedAnswer {
	return &fixedAnswer{contentType: contentType, etag: etagOf(xxhash.Sum64(body)), body: body}
}

func (f *fixedAnswer) send(c *gin.Context) {
	header := c.Writer.Header()
	header["Vary"] = varyOrigin // CORS headers depend on Origin
	if f.caching != nil {
		header["Cache-Control"] = f.caching
	}
	if f.policy != nil {
		header["Content-Security-Policy"] = f.policy
	}
	if f.encoding != nil {
		header["Content-Encoding"] = f.encoding
	}
	sendBody(c, f.contentType, f.etag, f.body)
}
