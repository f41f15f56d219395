package gormstore

import (
	"encoding/binary"
	"errors"
	"strings"
	"time"

	"github.com/gluepot/gluepot/domain/paste"
)

// What a paste holds is read and written as a whole, and no statement looks inside, so that it is one value in its row: a
// first byte that says which form follows, then texts, each with its length before it, and numbers. Texts are taken out of it
// without being copied. A reader knows every form that was ever written.
const (
	formContent = 1 // title, tags, pasties (id, title, language, code)
	formCipher  = 2 // data, key, salt, tags
	formEdit    = 1 // length of what follows; id, number, type, seconds since 1970, metadata, text
)

// encodeDocument returns the column document.
func encodeDocument(c paste.Content) []byte {
	if c.Cipher != nil {
		b := []byte{formCipher}
		for _, part := range [...][]byte{c.Cipher.Data, c.Cipher.Key, c.Cipher.Salt} {
			b = appendText(b, string(part))
		}
		return appendTexts(b, c.Tags)
	}
	size := 64 + len(c.Title)
	for _, p := range c.Pasties {
		size += 64 + len(p.Title) + len(p.Code)
	}
	b := append(make([]byte, 0, size), formContent)
	b = appendText(b, c.Title)
	b = appendTexts(b, c.Tags)
	b = binary.AppendUvarint(b, uint64(len(c.Pasties)))
	for _, p := range c.Pasties {
		b = appendText(appendText(appendText(appendText(b, p.ID), p.Title), p.Language), p.Code)
	}
	return b
}

// decodeDocument fills what encodeDocument has stored.
func decodeDocument(document string, c *paste.Content) error {
	r := reader{rest: document}
	switch r.byte() {
	case formContent:
		c.Title = r.text()
		c.Tags = r.texts()
		c.Pasties = make([]paste.Pasty, 0, r.count(4))
		for range cap(c.Pasties) {
			c.Pasties = append(c.Pasties, paste.Pasty{ID: r.text(), Title: r.text(), Language: r.text(), Code: r.text()})
		}
	case formCipher:
		c.Cipher = &paste.Cipher{Data: []byte(r.text()), Key: []byte(r.text()), Salt: []byte(r.text())}
		c.Tags = r.texts()
	default:
		r.failed = true
	}
	return r.end()
}

// decodeTitle returns the title that a document with content begins with, of which the end may be missing.
func decodeTitle(begins string) string {
	r := reader{rest: begins}
	r.byte()
	length := r.uvarint()
	if length <= uint64(len(r.rest)) {
		return r.rest[:length]
	}
	return strings.ToValidUTF8(r.rest, "")
}

// encodeEdit returns the column entry.
func encodeEdit(e paste.Edit) []byte {
	b := append(make([]byte, 0, editSize(e)), formEdit)
	b = appendText(b, e.ID)
	b = binary.AppendVarint(b, e.Number)
	b = append(b, byte(e.Type))
	b = binary.AppendVarint(b, e.At.Unix())
	b = appendTexts(b, e.Metadata)
	b = appendText(b, e.Text)
	return append(binary.AppendUvarint(nil, uint64(len(b))), b...)
}

// editSize is about the length of what encodeEdit returns.
func editSize(e paste.Edit) int {
	size := 32 + len(e.ID) + len(e.Text)
	for _, text := range e.Metadata {
		size += 2 + len(text)
	}
	return size
}

// decodeEdits returns the edits whose entries stand one after the other.
func decodeEdits(entries string, count int) ([]paste.Edit, error) {
	outer := reader{rest: entries}
	var edits []paste.Edit
	for outer.rest != "" && !outer.failed {
		if edits == nil {
			edits = make([]paste.Edit, 0, min(count, len(entries)))
		}
		r := reader{rest: outer.text()}
		if r.byte() != formEdit {
			return nil, errDocument
		}
		edits = append(edits, paste.Edit{
			ID: r.text(), Number: r.varint(), Type: paste.EditType(r.byte()),
			At: time.Unix(r.varint(), 0).UTC(), Metadata: r.texts(), Text: r.text(),
		})
		if err := r.end(); err != nil {
			return nil, err
		}
	}
	return edits, outer.end()
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

func appendTexts(b []byte, texts []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(texts)))
	for _, text := range texts {
		b = appendText(b, text)
	}
	return b
}

var errDocument = errors.New("what is stored of the paste's content is not readable: it was damaged, or written by a newer version")

// reader takes values off the front of a text. After the first that is not there it returns zeros.
type reader struct {
	rest   string
	failed bool
}

func (r *reader) byte() (b byte) {
	if r.rest == "" {
		r.failed = true
		return 0
	}
	b, r.rest = r.rest[0], r.rest[1:]
	return b
}

func (r *reader) uvarint() (value uint64) {
	for shift := 0; shift < 64; shift += 7 {
		b := r.byte()
		if shift == 63 && b > 1 {
			break
		}
		value |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return value
		}
	}
	r.failed = true
	return 0
}

func (r *reader) varint() int64 {
	value := r.uvarint()
	return int64(value>>1) ^ -int64(value&1)
}

func (r *reader) text() (text string) {
	length := r.uvarint()
	if length > uint64(len(r.rest)) {
		r.failed, r.rest = true, ""
		return ""
	}
	text, r.rest = r.rest[:length], r.rest[length:]
	return text
}

// count reads how many things follow, each of which has at least so many bytes.
func (r *reader) count(least int) int {
	count := r.uvarint()
	if count > uint64(len(r.rest)/least) {
		r.failed, r.rest = true, ""
		return 0
	}
	return int(count)
}

func (r *reader) texts() []string {
	count := r.count(1)
	if count == 0 {
		return nil
	}
	texts := make([]string, count)
	for i := range texts {
		texts[i] = r.text()
	}
	return texts
}

func (r *reader) end() error {
	if r.failed || r.rest != "" {
		return errDocument
	}
	return nil
}
