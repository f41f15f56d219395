package httpapi

import (
	"bytes"
	"encoding/json"

	"github.com/gin-gonic/gin"
)

// encodeJSON returns v encoded, without escapes that only HTML needs.
func encodeJSON(v any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}

// writeJSON answers 200 with an encoded body.
func writeJSON(c *gin.Context, body []byte) { write(c, jsonContentType, body) }

// encodeAndWrite answers 200 with v, which is short.
func encodeAndWrite(c *gin.Context, v any) error {
	body, err := encodeJSON(v)
	if err == nil {
		writeJSON(c, body)
	}
	return err
}
