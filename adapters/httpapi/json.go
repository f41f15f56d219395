package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"

	"github.com/gin-gonic/gin"
)

// jsonBuffer collects an answer. Buffers are pooled for the lists: one of a thousand ids makes 33 KiB of garbage without,
// and takes half as long again. Others save three of eleven allocations.
type jsonBuffer struct {
	text    bytes.Buffer
	encoder *json.Encoder // writes into text
}

var jsonBuffers = sync.Pool{New: func() any {
	b := new(jsonBuffer)
	b.encoder = json.NewEncoder(&b.text)
	b.encoder.SetEscapeHTML(false) // what only HTML needs escaped
	return b
}}

func newJSONBuffer() *jsonBuffer {
	return jsonBuffers.Get().(*jsonBuffer) //nolint:forcetypeassert // the pool holds nothing else
}

// maxPooledBuffer keeps long answers from occupying memory when they are gone: the pool has no limit of its own.
const maxPooledBuffer = 32 << 10

func (b *jsonBuffer) release() {
	if b.text.Cap() <= maxPooledBuffer {
		b.text.Reset()
		jsonBuffers.Put(b)
	}
}

// encode appends v, without a line end.
func (b *jsonBuffer) encode(v any) error {
	if err := b.encoder.Encode(v); err != nil {
		return err
	}
	b.text.Truncate(b.text.Len() - 1)
	return nil
}

// appendString appends s as a JSON string.
func (b *jsonBuffer) appendString(s string) error {
	b.text.WriteByte('"')
	err := b.appendCharacters(s)
	b.text.WriteByte('"')
	return err
}

// appendCharacters appends s as the inside of a JSON string. Ids are plain ASCII, and code nearly is: the encoder would allocate,
// and take five times as long. It does what has any other character.
func (b *jsonBuffer) appendCharacters(s string) error {
	start, plain := b.text.Len(), 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c < 0x7f && c != '"' && c != '\\' {
			continue
		}
		var escaped string
		switch c {
		case '\n':
			escaped = `\n`
		case '\t':
			escaped = `\t`
		case '\r':
			escaped = `\r`
		case '"':
			escaped = `\"`
		case '\\':
			escaped = `\\`
		default:
			b.text.Truncate(start)
			return b.encodeCharacters(s)
		}
		b.text.WriteString(s[plain:i])
		b.text.WriteString(escaped)
		plain = i + 1
	}
	b.text.WriteString(s[plain:])
	return nil
}

func (b *jsonBuffer) encodeCharacters(s string) error {
	start := b.text.Len()
	if err := b.encode(s); err != nil {
		return err
	}
	quoted := b.text.Bytes()[start:]
	copy(quoted, quoted[1:])
	b.text.Truncate(start + len(quoted) - len(`""`))
	return nil
}

// encodeJSON returns v encoded.
func encodeJSON(v any) ([]byte, error) {
	b := newJSONBuffer()
	defer b.release()
	if err := b.encode(v); err != nil {
		return nil, err
	}
	return bytes.Clone(b.text.Bytes()), nil
}

// selfCounted is how long a body may be whose length is left to net/http, which buffers as much (2 KiB in Go 1.26) and then
// counts. The header would cost two allocations, and the answers with most headers a larger map.
const selfCounted = 1 << 10

// writeHeader prepares a 200 with a body of that type and that many bytes.
func writeHeader(c *gin.Context, contentType []string, length int64) {
	header := c.Writer.Header()
	header["Content-Type"] = contentType
	if header["Cache-Control"] == nil {
		header["Cache-Control"] = noCache
	}
	if length > selfCounted {
		header["Content-Length"] = []string{strconv.FormatInt(length, 10)}
	}
	c.Status(http.StatusOK)
}

// writeJSON answers 200 with an encoded body.
func writeJSON(c *gin.Context, body []byte) { write(c, jsonContentType, body) }

func write(c *gin.Context, contentType []string, body []byte) {
	writeHeader(c, contentType, int64(len(body)))
	_, _ = c.Writer.Write(body) // a client that has gone cannot be told
}

// encodeAndWrite answers 200 with v.
func encodeAndWrite(c *gin.Context, v any) error {
	b := newJSONBuffer()
	defer b.release()
	if err := b.encode(v); err != nil {
		return err
	}
	writeJSON(c, b.text.Bytes())
	return nil
}
