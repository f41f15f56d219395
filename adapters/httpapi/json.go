package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"

	"github.com/gin-gonic/gin"
)

var jsonContentType = []string{mediaJSON}

// jsonBuffer collects an answer.
type jsonBuffer struct {
	bytes.Buffer
	encoder *json.Encoder // writes into the buffer
}

var jsonBuffers = sync.Pool{New: func() any {
	b := new(jsonBuffer)
	b.encoder = json.NewEncoder(&b.Buffer)
	b.encoder.SetEscapeHTML(false) // what only HTML needs escaped
	return b
}}

func newJSONBuffer() *jsonBuffer {
	return jsonBuffers.Get().(*jsonBuffer) //nolint:forcetypeassert // the pool holds nothing else
}

// maxPooledBuffer keeps one very long answer from occupying memory for good.
const maxPooledBuffer = 4 << 20

func (b *jsonBuffer) release() {
	if b.Cap() <= maxPooledBuffer {
		b.Reset()
		jsonBuffers.Put(b)
	}
}

// encode appends v, without a line end.
func (b *jsonBuffer) encode(v any) error {
	if err := b.encoder.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1)
	return nil
}

// appendString appends s as a JSON string. Ids are plain ASCII; whatever else another writer may
// have put into the database is escaped.
func (b *jsonBuffer) appendString(s []byte) {
	for _, c := range s {
		if c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			encoded, _ := json.Marshal(string(s)) // a string cannot fail
			b.Write(encoded)
			return
		}
	}
	b.WriteByte('"')
	b.Write(s)
	b.WriteByte('"')
}

// encodeJSON returns v encoded.
func encodeJSON(v any) ([]byte, error) {
	b := newJSONBuffer()
	defer b.release()
	if err := b.encode(v); err != nil {
		return nil, err
	}
	return bytes.Clone(b.Bytes()), nil
}

// net/http counts what fits into its buffer, and sets Content-Length itself.
const countedByServer = 2048

// writeJSON answers 200 with an encoded body.
func writeJSON(c *gin.Context, body []byte) {
	header := c.Writer.Header()
	header["Content-Type"] = jsonContentType
	if len(body) > countedByServer {
		header["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	c.Status(http.StatusOK)
	_, _ = c.Writer.Write(body) // a client that has gone cannot be told
}

// encodeAndWrite answers 200 with v.
func encodeAndWrite(c *gin.Context, v any) error {
	b := newJSONBuffer()
	defer b.release()
	if err := b.encode(v); err != nil {
		return err
	}
	writeJSON(c, b.Bytes())
	return nil
}
