package httpapi

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"
	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/adapters/httpapi/limit"
	"github.com/gluepot/gluepot/adapters/internal/view"
	"github.com/gluepot/gluepot/domain/paste"
)

func (a *API) newClaim(r *http.Request) limit.Claim { return a.memory.Claim(memoryClient(r)) }

// shortage is the error of a read whose answer was dropped for lack of memory. A request that has claimed that many
// bytes may produce its answer again.
type shortage struct{ bytes int64 }

func (*shortage) Error() string { return "not enough memory for the answer" }

// Unwrap makes it a fault.Busy.
func (*shortage) Unwrap() error { return limit.ErrNoMemory }

// hold claims memory for an answer, at most the share of one client. It fails with a shortage for a read. The answer to
// a write is sent in any case.
func (a *API) hold(c *call, bytes int64) error {
	bytes = min(bytes, a.memory.Share())
	switch {
	case c.claim.Holds(bytes) || c.claim.Try(bytes):
	case reads(c.Request):
		return &shortage{bytes}
	default:
		c.claim.Force(bytes)
	}
	return nil
}

// sendBody answers with a body, or with 304 if the client has one with that ETag. A nil etag means none. It compresses
// a body that is worth it.
func sendBody(c *gin.Context, status int, contentType, etag []string, body []byte) {
	sendEncoded(c, status, contentType, etag, body, encode)
}

func sendEncoded(c *gin.Context, status int, contentType, etag []string, body []byte,
	encode func(*http.Request, []byte) representation,
) {
	header := c.Writer.Header()
	if compresses(header, contentType, body) {
		header["Vary"] = append(slices.Clip(header["Vary"]), "Accept-Encoding")
		if notModified(c, etag) {
			return
		}
		result := encode(c.Request, body)
		if body = result.body; result.coding != "" {
			header["Content-Encoding"] = []string{result.coding}
			etag = withCoding(etag, result.coding)
		}
	}
	if begin(c, status, contentType, etag, int64(len(body))) {
		_, _ = c.Writer.Write(body) // a client that has gone cannot be told
	}
}

// withCoding returns the ETag for a content coding: each coding of an answer needs its own (RFC 9110, 8.8.3.3).
func withCoding(etag []string, coding string) []string {
	if etag == nil {
		return nil
	}
	return []string{strings.TrimSuffix(etag[0], `"`) + "-" + coding + `"`}
}

// text is an answer in plain text.
type text string

// send answers with a paste, text, pieces of JSON, what another adapter answered, or else JSON. Pastes and text that
// visitors read have an ETag; after a write they are sent even beyond the memory budget.
func (a *API) send(c *call, answer any) error {
	c.body = nil // free its memory
	switch answer := answer.(type) {
	case *paste.Document:
		return a.sendPaste(c, answer)
	case text:
		if err := a.hold(c, int64(len(answer))); err != nil {
			return err
		}
		etag := c.etag(xxhash.Sum64String(string(answer)))
		if begin(c.Context, http.StatusOK, textContentType, etag, int64(len(answer))) {
			_, _ = c.Writer.WriteString(string(answer)) // a client that has gone cannot be told
		}
	case *net.Buffers:
		if begin(c.Context, http.StatusOK, jsonContentType, nil, lengthOf(*answer)) {
			_, _ = answer.WriteTo(c.Writer) // as above
		}
	case *collected:
		header := c.Writer.Header()
		maps.Copy(header, answer.header)
		header["Cache-Control"] = privateNoStore
		c.claim.Force(min(int64(answer.body.Len()), a.memory.Share()))
		sendBody(c.Context, answer.status, header["Content-Type"], nil, answer.body.Bytes())
	default:
		c.claim.Release() // small answers need no memory
		sendJSON(c.Context, answer)
	}
	return nil
}

func lengthOf(pieces net.Buffers) (length int64) {
	for _, piece := range pieces {
		length += int64(len(piece))
	}
	return length
}

// maxBufferedText is the length up to which the text of a paste is encoded once, into a buffer. Longer text is
// streamed, which encodes it twice. So is text with many escapes, which make it up to six times as long in JSON.
const maxBufferedText = 4 << 20

// sendPaste answers with a paste. It claims memory for the text and the encoded answer, if that is buffered.
func (a *API) sendPaste(c *call, d *paste.Document) error {
	length := d.Bytes()
	capacity := length + length/4 + 128*int64(len(d.Pasties)+len(d.Edits)) + 2<<10 // enough for most code
	claim := length + capacity
	switch {
	case length > maxBufferedText:
		capacity, claim = 0, length
	case capacity <= limit.Uncounted:
		claim = 0
	}
	if err := a.hold(c, claim); err != nil {
		return err
	}
	if capacity > 0 {
		text := fixedBuffer(make([]byte, 0, capacity))
		if view.WritePaste(&text, d) == nil {
			c.claim.Force(min(capacity, claim))
			sendBody(c.Context, http.StatusOK, jsonContentType, c.etag(xxhash.Sum64(text)), text)
			return nil
		}
	}
	c.claim.Force(min(length, claim, a.memory.Share()))
	digest := &measure{Digest: xxhash.New()}
	if err := view.WritePaste(digest, d); err != nil {
		return err
	}
	if begin(c.Context, http.StatusOK, jsonContentType, c.etag(digest.Sum64()), digest.length) {
		_ = view.WritePaste(c.Writer, d) // a client that has gone cannot be told
	}
	return nil
}

// fixedBuffer is an io.Writer that never grows beyond its capacity.
type fixedBuffer []byte

func (b *fixedBuffer) Write(p []byte) (int, error) {
	if len(*b)+len(p) > cap(*b) {
		return 0, io.ErrShortBuffer
	}
	*b = append(*b, p...)
	return len(p), nil
}

// measure hashes and counts the bytes written to it.
type measure struct {
	*xxhash.Digest

	length int64
}

func (m *measure) Write(p []byte) (int, error) {
	m.length += int64(len(p))
	return m.Digest.Write(p)
}

func sendJSON(c *gin.Context, v any) { sendBody(c, http.StatusOK, jsonContentType, nil, encodeJSON(v)) }

// encodeJSON encodes v, without escapes for HTML.
func encodeJSON(v any) []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil { // a mistake in the type of an answer
		panic(err)
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}

// maxImplicitLength is the longest body whose Content-Length is left to net/http, which counts a body that fits into
// its buffer: 2 KiB in Go 1.26. A ninth header would make the header map grow, which takes a sixth of the time of a
// small answer.
const maxImplicitLength = 1 << 10

// begin sends the status and headers of an answer, and reports whether its body must follow. No body follows after
// HEAD, or after the 304 for a client that has the answer with that ETag.
func begin(c *gin.Context, status int, contentType, etag []string, length int64) bool {
	header := c.Writer.Header()
	if notModified(c, etag) {
		return false
	}
	header["Content-Type"] = contentType
	head := c.Request.Method == http.MethodHead
	if length > maxImplicitLength || head || status != http.StatusOK { // an error may be flushed before its end
		header["Content-Length"] = []string{strconv.FormatInt(length, 10)}
	}
	c.Status(status)
	c.Writer.WriteHeaderNow()
	return !head
}

// notModified answers with 304 if the client has the answer with that ETag, in any coding. It sets the headers that a
// 200 has, too.
func notModified(c *gin.Context, etag []string) bool {
	header := c.Writer.Header()
	if header["Cache-Control"] == nil {
		header["Cache-Control"] = noCache
	}
	if etag == nil {
		return false
	}
	header["Etag"] = etag
	if !matchesETag(c.Request.Header["If-None-Match"], etag[0]) {
		return false
	}
	delete(header, "Content-Encoding")
	c.Status(http.StatusNotModified) // with the headers of the 200 (RFC 9110, 15.4.5)
	c.Writer.WriteHeaderNow()
	return true
}

// etag returns the ETag of an answer with that hash. It returns nil for requests with a token and for writes, whose
// answers stay out of caches.
func (c *call) etag(sum uint64) []string {
	if c.secret != "" || !reads(c.Request) {
		return nil
	}
	return etagOf(sum)
}

// etagOf returns the ETag for a hash. It is the same on every node.
func etagOf(sum uint64) []string {
	etag := base64.RawURLEncoding.AppendEncode([]byte{'"'}, binary.BigEndian.AppendUint64(nil, sum))
	return []string{string(append(etag, '"'))}
}

// etagSuffixes end the ETags of one answer: without a coding, and in each one. See withCoding.
var etagSuffixes = []string{`"`, `-gzip"`, `-zstd"`}

// matchesETag uses the weak comparison of If-None-Match (RFC 9110, 13.1.2). An answer is the same in every coding.
func matchesETag(ifNoneMatch []string, etag string) bool {
	prefix := strings.TrimSuffix(etag, `"`)
	return slices.ContainsFunc(strings.Split(strings.Join(ifNoneMatch, ","), ","), func(candidate string) bool {
		candidate = strings.Trim(candidate, " \t")
		rest, ok := strings.CutPrefix(strings.TrimPrefix(candidate, "W/"), prefix)
		return candidate == "*" || ok && slices.Contains(etagSuffixes, rest)
	})
}

// fixedAnswer is an answer that never changes while the program runs.
type fixedAnswer struct {
	header            http.Header // of this answer only
	contentType, etag []string
	body              []byte
}

// newFixedAnswer returns an answer without headers of its own.
func newFixedAnswer(contentType []string, body []byte) *fixedAnswer {
	return &fixedAnswer{header: make(http.Header), contentType: contentType, etag: etagOf(xxhash.Sum64(body)), body: body}
}

func (f *fixedAnswer) send(c *gin.Context) {
	maps.Copy(c.Writer.Header(), f.header)
	sendEncoded(c, http.StatusOK, f.contentType, f.etag, f.body, encodeFile)
}
