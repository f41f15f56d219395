package httpapi

import (
	"bytes"
	"encoding/json"
	"io"
	"unicode/utf8"

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

// jsonWriter writes JSON in pieces, so that a long text is never held a second time.
type jsonWriter struct {
	to      io.Writer
	encoder *json.Encoder
	encoded bytes.Buffer
	err     error // the first
}

func newJSONWriter(to io.Writer) *jsonWriter {
	w := &jsonWriter{to: to}
	w.encoder = json.NewEncoder(&w.encoded)
	w.encoder.SetEscapeHTML(false)
	return w
}

func (w *jsonWriter) raw(text string) {
	if w.err == nil {
		_, w.err = io.WriteString(w.to, text)
	}
}

// inside writes v without what encloses it: so many bytes before, and a quote or bracket at the end.
func (w *jsonWriter) inside(v any, before int) {
	if w.err != nil {
		return
	}
	w.encoded.Reset()
	if w.err = w.encoder.Encode(v); w.err == nil {
		encoded := w.encoded.Bytes()
		_, w.err = w.to.Write(encoded[before : len(encoded)-len("\"\n")])
	}
}

// begin writes an object up to its closing bracket.
func (w *jsonWriter) begin(v any) { w.inside(v, 0) }

// pieceLength is how much of a text is encoded at once, in bytes.
const pieceLength = 8 << 10

func (w *jsonWriter) text(s string) {
	w.raw(`"`)
	for s != "" && w.err == nil {
		end := min(len(s), pieceLength)
		for end < len(s) && end > pieceLength-utf8.UTFMax && !utf8.RuneStart(s[end]) {
			end--
		}
		w.inside(s[:end], 1)
		s = s[end:]
	}
	w.raw(`"`)
}

func (w *jsonWriter) comma(i int) {
	if i > 0 {
		w.raw(",")
	}
}
