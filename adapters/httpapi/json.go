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

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxPooledBuffer keeps one very long answer from occupying memory for good.
const maxPooledBuffer = 4 << 20

func releaseBuffer(b *bytes.Buffer) {
	if b.Cap() <= maxPooledBuffer {
		b.Reset()
		buffers.Put(b)
	}
}

// encodeJSON encodes v without escaping what only HTML needs escaped, and without a line end.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// writeJSON answers 200 with an encoded body.
func writeJSON(c *gin.Context, body []byte) {
	header := c.Writer.Header()
	header["Content-Type"] = jsonContentType
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	c.Status(http.StatusOK)
	_, _ = c.Writer.Write(body) // a client that has gone cannot be told
}

// encodeAndWrite answers 200 with v.
func encodeAndWrite(c *gin.Context, v any) error {
	body, err := encodeJSON(v)
	if err != nil {
		return err
	}
	writeJSON(c, body)
	return nil
}
