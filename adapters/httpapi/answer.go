package httpapi

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"

	"github.com/cespare/xxhash/v2"
	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/adapters/httpapi/limit"
)

// answer collects a body before its first byte is sent: so its length and ETag are known, and a failure half-way can still become an
// error. It claims memory chunk by chunk, until the body is sent.
type answer struct {
	limit.Claim

	chunks [][]byte // full, except the last
	length int64
	tagged bool // it gets an ETag
	exempt bool // from the memory budget, because the content exists nowhere else any more
	status int  // 0: 200
}

// maxChunk is the size of chunks after the first ones, which suffice for most answers.
const maxChunk = 64 << 10

var firstChunks = [...]int{4 << 10, 16 << 10}

func (a *API) newAnswer(c *gin.Context) *answer { return &answer{Claim: a.claim(c.Request)} }

// Write implements io.Writer. It fails with fault.Unavailable when there is no room.
func (a *answer) Write(p []byte) (int, error) { return add(a, p) }

// WriteString implements io.StringWriter.
func (a *answer) WriteString(s string) (int, error) { return add(a, s) }

func add[T string | []byte](a *answer, text T) (n int, err error) {
	for n < len(text) {
		last := len(a.chunks) - 1
		if last < 0 || len(a.chunks[last]) == cap(a.chunks[last]) {
			size := maxChunk
			if last < len(firstChunks)-1 {
				size = firstChunks[last+1]
			}
			if err := a.Resize(a.length + int64(size)); err != nil && !a.exempt {
				return n, err
			}
			a.chunks = append(a.chunks, make([]byte, 0, size))
			last++
		}
		chunk := a.chunks[last]
		copied := copy(chunk[len(chunk):cap(chunk)], text[n:])
		a.chunks[last] = chunk[:len(chunk)+copied]
		a.length += int64(copied)
		n += copied
	}
	return n, nil
}

// send sends the collected answer, or 304 if the client has one with that ETag.
func (a *answer) send(c *gin.Context, contentType []string) {
	if a.tagged {
		hash := xxhash.New()
		for _, chunk := range a.chunks {
			_, _ = hash.Write(chunk) // cannot fail
		}
		if knows(c, etagOfSum(hash.Sum64())) {
			return
		}
	}
	writeHeader(c, contentType, a.length)
	if a.status != 0 {
		c.Status(a.status)
	}
	c.Writer.WriteHeaderNow()
	if c.Request.Method == http.MethodHead {
		return
	}
	for _, chunk := range a.chunks {
		if _, err := c.Writer.Write(chunk); err != nil { // a client that has gone cannot be told
			return
		}
	}
}

// measure hashes and counts what is written to it.
type measure struct {
	hash   *xxhash.Digest
	length int64
}

// Write implements io.Writer.
func (m *measure) Write(p []byte) (int, error) {
	m.length += int64(len(p))
	return m.hash.Write(p)
}

// WriteString implements io.StringWriter.
func (m *measure) WriteString(s string) (int, error) {
	m.length += int64(len(s))
	return m.hash.WriteString(s)
}

// sendStream answers with the output of write, which it calls twice: first for the length and the ETag. It is for bodies too long to
// hold in memory.
func sendStream(c *gin.Context, contentType []string, tagged bool, write func(io.Writer) error) error {
	m := &measure{hash: xxhash.New()}
	if err := write(m); err != nil {
		return err
	}
	if tagged && knows(c, etagOfSum(m.hash.Sum64())) {
		return nil
	}
	writeHeader(c, contentType, m.length)
	c.Writer.WriteHeaderNow()
	if c.Request.Method != http.MethodHead {
		_ = write(c.Writer) // a client that has gone cannot be told
	}
	return nil
}

// selfCounted is the longest body whose Content-Length is left to net/http, which saves two allocations. It counts what it buffers:
// 2 KiB in Go 1.26.
const selfCounted = 1 << 10

// writeHeader prepares a 200 with a body of that type and length.
func writeHeader(c *gin.Context, contentType []string, length int64) {
	header := c.Writer.Header()
	header["Content-Type"] = contentType
	if header["Cache-Control"] == nil {
		header["Cache-Control"] = noCache
	}
	if length > selfCounted || c.Request.Method == http.MethodHead {
		header["Content-Length"] = []string{strconv.FormatInt(length, 10)}
	}
	c.Status(http.StatusOK)
}

func write(c *gin.Context, contentType []string, body []byte) {
	writeHeader(c, contentType, int64(len(body)))
	_, _ = c.Writer.Write(body) // a client that has gone cannot be told
}

// encodeJSON encodes v, without escapes for HTML.
func encodeJSON(v any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}

func writeJSON(c *gin.Context, body []byte) { write(c, jsonContentType, body) }

func encodeAndWrite(c *gin.Context, v any) error {
	body, err := encodeJSON(v)
	if err == nil {
		writeJSON(c, body)
	}
	return err
}
