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

func (a *API) newClaim(r *http.Request) limit.Claim { return a.memory.Claim(counted(r)) }

// shortage is the error of a read whose answer has been dropped, because there is no memory for it now. A request that
// has claimed that much may make its answer again.
type shortage struct{ bytes int64 }

func (*shortage) Error() string { return "there was no memory for the answer" }

// Unwrap makes it a fault.Unavailable.
func (*shortage) Unwrap() error { return limit.ErrNoMemory }

// hold claims memory for an answer, at most what a client may have. It fails with a shortage for a read. The answer to
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

// sendBody answers with a body, or with 304 if the client has one with that ETag. A nil etag means none.
func sendBody(c *gin.Context, status int, contentType, etag []string, body []byte) {
	if begin(c, status, contentType, etag, int64(len(body))) {
		_, _ = c.Writer.Write(body) // a client that has gone cannot be told
	}
}

// text is an answer in plain text.
type text string

// send answers with a paste, with text, with pieces of JSON, or with anything else as JSON. Pastes and text that visitors read have an
// ETag; after a write they are sent even beyond the memory budget.
func (a *API) send(c *call, answer any) error {
	c.body = nil // it is not needed any more
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
			_, _ = answer.WriteTo(c.Writer) // likewise
		}
	default:
		_ = a.hold(c, 0) // which cannot fail
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

// maxHeldText is the most text that is encoded once and held. Longer text is streamed, which encodes it twice. So is text that
// needs many escapes: JSON may make it six times as long.
const maxHeldText = 4 << 20

// sendPaste answers with a paste.
func (a *API) sendPaste(c *call, d *paste.Document) error {
	length := d.Bytes()
	encoded := length + length/4 + 128*int64(len(d.Pasties)+len(d.Edits)) + 2<<10 // enough for most code
	needed := length + encoded
	switch {
	case length > maxHeldText:
		encoded, needed = 0, length
	case encoded <= limit.Uncounted:
		needed = 0
	}
	if err := a.hold(c, needed); err != nil {
		return err
	}
	if encoded > 0 {
		text := fixedBuffer(make([]byte, 0, encoded))
		if view.WritePaste(&text, d) == nil {
			c.claim.Force(min(encoded, needed))
			sendBody(c.Context, http.StatusOK, jsonContentType, c.etag(xxhash.Sum64(text)), text)
			return nil
		}
	}
	c.claim.Force(min(length, needed, a.memory.Share()))
	measured := &measure{Digest: xxhash.New()}
	if err := view.WritePaste(measured, d); err != nil {
		return err
	}
	if begin(c.Context, http.StatusOK, jsonContentType, c.etag(measured.Sum64()), measured.length) {
		_ = view.WritePaste(c.Writer, d) // likewise
	}
	return nil
}

// fixedBuffer takes no more than its capacity.
type fixedBuffer []byte

func (b *fixedBuffer) Write(p []byte) (int, error) {
	if len(*b)+len(p) > cap(*b) {
		return 0, io.ErrShortBuffer
	}
	*b = append(*b, p...)
	return len(p), nil
}

// measure hashes and counts what is written to it.
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
	if err := encoder.Encode(v); err != nil { // what we send can be encoded
		panic(err)
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}

// selfCounted is the longest body whose Content-Length is left to net/http, which counts a body that fits into its buffer: 2 KiB in
// Go 1.26. A ninth header would make the header map grow, which takes a sixth of the time of a small answer.
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

// etag returns the ETag of an answer with that hash, or nil if it is one to a token or to a write, which stays out of caches.
func (c *call) etag(sum uint64) []string {
	if c.secret != "" || !reads(c.Request) {
		return nil
	}
	return etagOf(sum)
}

// etagOf returns the ETag for a hash, the same on every node.
func etagOf(sum uint64) []string {
	etag := base64.RawURLEncoding.AppendEncode([]byte{'"'}, binary.BigEndian.AppendUint64(nil, sum))
	return []string{string(append(etag, '"'))}
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
	header            http.Header // those that differ between answers
	contentType, etag []string
	body              []byte
}

// newFixedAnswer returns an answer without headers of its own.
func newFixedAnswer(contentType []string, body []byte) *fixedAnswer {
	return &fixedAnswer{header: make(http.Header), contentType: contentType, etag: etagOf(xxhash.Sum64(body)), body: body}
}

func (f *fixedAnswer) send(c *gin.Context) {
	maps.Copy(c.Writer.Header(), f.header)
	sendBody(c, http.StatusOK, f.contentType, f.etag, f.body)
}
