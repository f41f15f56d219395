package httpapi

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"unicode/utf8"

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
func (b *jsonBuffer) appendString(s string) {
	b.text.WriteByte('"')
	b.appendCharacters(s)
	b.text.WriteByte('"')
}

// appendCharacters appends s as the inside of a JSON string, as the encoder does, which would hold a copy of it and take several
// times as long.
func (b *jsonBuffer) appendCharacters(s string) {
	b.text.Grow(2*len(s) + wordSize) // all there is to do for code, of which one character in ten is escaped
	b.text.Write(appendEscaped(b.text.AvailableBuffer(), s))
}

// shortEscapes are the letters of the escapes that have one.
var shortEscapes = [utf8.RuneSelf]byte{'"': '"', '\\': '\\', '\n': 'n', '\t': 't', '\r': 'r', '\b': 'b', '\f': 'f'}

// A word is looked at in one go. everyByte times a byte is a word of it.
const (
	wordSize  = 8
	everyByte = 0x0101010101010101
	highBits  = 0x80 * everyByte
)

// unusual marks, with their highest bits, the bytes of a word that may not stand in a JSON string as they are: control characters,
// quotes, backslashes and what is not ASCII. Only of those above another one, it may mark too many.
func unusual(word uint64) uint64 {
	quote, backslash := word^'"'*everyByte, word^'\\'*everyByte
	return (word | (word-' '*everyByte)&^word | (quote-everyByte)&^quote | (backslash-everyByte)&^backslash) & highBits
}

// appendEscaped appends s as the inside of a JSON string: byte by byte what encoding/json makes of it, without what only HTML
// needs escaped.
func appendEscaped(to []byte, s string) []byte {
	to = slices.Grow(to, 2*len(s)+wordSize)
	length := len(to)
	to = to[:cap(to)] // which is enough for one short escape of each byte that is left and a word
	for i := 0; i < len(s); {
		if i+wordSize <= len(s) {
			word := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
				uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
			binary.LittleEndian.PutUint64(to[length:], word)
			plain := bits.TrailingZeros64(unusual(word)) / 8
			i += plain
			length += plain
			if plain == wordSize {
				continue
			}
		}
		c := s[i]
		switch {
		case c >= utf8.RuneSelf:
			size, escape := multibyte(s[i:])
			if escape == "" {
				escape = s[i : i+size]
			}
			length += copy(to[length:], escape)
			i += size
		case shortEscapes[c] != 0:
			to[length], to[length+1] = '\\', shortEscapes[c]
			length += 2
			i++
			continue
		case c < ' ':
			const digits = "0123456789abcdef"
			length += copy(to[length:], `\u00`)
			to[length], to[length+1] = digits[c>>4], digits[c&0xf]
			length += 2
			i++
		default:
			to[length] = c
			length++
			i++
			continue
		}
		if need := 2*(len(s)-i) + wordSize; cap(to)-length < need {
			to = slices.Grow(to[:length], need)
			to = to[:cap(to)]
		}
	}
	return to[:length]
}

// multibyte returns the length of the character at the beginning of s, which is not ASCII, and what to write instead of it,
// if anything.
func multibyte(s string) (size int, escape string) {
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case r == utf8.RuneError && size == 1:
		return size, `\ufffd`
	case r == '\u2028':
		return size, `\u2028`
	case r == '\u2029':
		return size, `\u2029`
	}
	return size, ""
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
