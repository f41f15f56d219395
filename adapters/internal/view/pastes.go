package view

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/gluepot/gluepot/domain/paste"
)

// pasteView is a paste. It has exactly the fields of the v2 API, because strict clients fail on others. Nothing is
// null.
type pasteView struct {
	ID        string      `json:"_id"`
	OwnerID   string      `json:"ownerId"`
	Title     string      `json:"title"`
	CreatedAt int64       `json:"createdAt"`
	ExpiresIn string      `json:"expiresIn"`
	DeletesAt int64       `json:"deletesAt"`
	Stars     int64       `json:"stars"`
	IsPrivate bool        `json:"isPrivate"`
	IsPublic  bool        `json:"isPublic"`
	Tags      []string    `json:"tags"`
	Encrypted bool        `json:"encrypted"`
	Pasties   []pastyView `json:"pasties"`
	Edits     []editView  `json:"edits"`
}

type pastyView struct {
	ID       string `json:"_id"`
	Language string `json:"language"`
	Title    string `json:"title"`
	Code     string `json:"code"`
}

type editView struct {
	ID       string   `json:"_id"`
	EditID   int64    `json:"editId"`
	EditType int      `json:"editType"`
	Metadata []string `json:"metadata"`
	Edit     string   `json:"edit"`
	EditedAt int64    `json:"editedAt"`
}

// Encrypted is a paste that its readers decrypt. cipherView adds what they need for that, except the key.
type Encrypted struct {
	ID        string `json:"_id"`
	Encrypted bool   `json:"encrypted"`
	ExpiresIn string `json:"expiresIn"`
	DeletesAt int64  `json:"deletesAt"`
}

type cipherView struct {
	Encrypted

	Version int    `json:"version"`
	Salt    string `json:"salt"`
	Cipher  string `json:"cipher"`
}

// NewEncrypted returns the view of an encrypted paste.
func NewEncrypted(d *paste.Document) Encrypted {
	return Encrypted{ID: string(d.ID), Encrypted: true, ExpiresIn: string(d.ExpiresIn()), DeletesAt: d.DeletesAt()}
}

func list(texts []string) []string {
	if texts == nil {
		return []string{}
	}
	return texts
}

// WritePaste writes a paste, or its cipher if the client encrypted it. It encodes long texts in pieces, because a
// history may be too long for the memory.
func WritePaste(to io.Writer, d *paste.Document) error {
	w, _ := writers.Get().(*writer)
	defer w.release()
	w.to, w.err = to, nil
	if d.Cipher != nil && d.Cipher.Version > 0 {
		salt := base64.RawURLEncoding.EncodeToString(d.Cipher.Salt)
		w.object(cipherView{Encrypted: NewEncrypted(d), Version: d.Cipher.Version, Salt: salt}, part{`"cipher":"`, func() {
			encoder := base64.NewEncoder(base64.RawURLEncoding, w)
			_, _ = encoder.Write(d.Cipher.Data)
			_ = encoder.Close()
		}})
		return w.err
	}
	w.object(pasteView{
		ID: string(d.ID), OwnerID: string(d.Owner), Title: d.Title,
		CreatedAt: d.CreatedAt.Unix(), ExpiresIn: string(d.ExpiresIn()), DeletesAt: d.DeletesAt(), Stars: d.Stars,
		IsPrivate: d.Visibility == paste.Private, IsPublic: d.Visibility == paste.Public,
		Tags: list(d.Tags), Encrypted: d.Encrypted(), Pasties: []pastyView{}, Edits: []editView{},
	}, part{`"pasties":[`, func() {
		for i, p := range d.Pasties {
			w.comma(i)
			w.object(pastyView{ID: p.ID, Language: p.Language, Title: p.Title}, part{`"code":"`, func() { w.text(p.Code) }})
		}
	}}, part{`"edits":[`, func() {
		for i, e := range d.Edits {
			w.comma(i)
			w.object(editView{
				ID: e.ID, EditID: e.Number, EditType: int(e.Type), Metadata: list(e.Metadata), EditedAt: e.At.Unix(),
			}, part{`"edit":"`, func() { w.text(e.Text) }})
		}
	}})
	return w.err
}

// writer writes JSON until it fails.
type writer struct {
	to      io.Writer
	err     error
	encoder *json.Encoder
	buffer  bytes.Buffer
}

// writers are reused for their memory. Without them, GET of a small paste would miss its floor (docs/BENCHMARKS.md).
var writers = sync.Pool{New: func() any {
	w := new(writer)
	w.encoder = json.NewEncoder(&w.buffer)
	w.encoder.SetEscapeHTML(false)
	return w
}}

// release returns a writer to writers, unless its buffer has become too large.
func (w *writer) release() {
	if w.to = nil; w.buffer.Cap() <= 8*pieceLength {
		writers.Put(w)
	}
}

// Write implements io.Writer.
func (w *writer) Write(p []byte) (n int, err error) {
	if w.err == nil {
		n, w.err = w.to.Write(p)
	}
	return n, w.err
}

// encode returns v as JSON. The result is valid until the next call.
func (w *writer) encode(v any) []byte {
	w.buffer.Reset()
	_ = w.encoder.Encode(v) // cannot fail for strings, numbers and lists of them
	return bytes.TrimSuffix(w.buffer.Bytes(), []byte("\n"))
}

// part writes the value of a member that the encoded object leaves empty. member is the text in front of the value.
type part struct {
	member string
	write  func()
}

// object writes an object, with each part's value in its place. No value contains a part's member, because its quotes
// are escaped.
func (w *writer) object(v any, parts ...part) {
	rest := bytes.Clone(w.encode(v))
	for _, p := range parts {
		begin := bytes.Index(rest, []byte(p.member)) + len(p.member)
		_, _ = w.Write(rest[:begin])
		p.write()
		rest = rest[begin:]
	}
	_, _ = w.Write(rest)
}

func (w *writer) comma(i int) {
	if i > 0 {
		_, _ = w.Write([]byte{','})
	}
}

// pieceLength is how many bytes of a text are encoded at once.
const pieceLength = 8 << 10

// text writes a JSON string without its quotes.
func (w *writer) text(s string) {
	for s != "" {
		end := min(len(s), pieceLength)
		for end < len(s) && end > pieceLength-utf8.UTFMax && !utf8.RuneStart(s[end]) {
			end--
		}
		piece := w.encode(s[:end])
		if _, err := w.Write(piece[1 : len(piece)-1]); err != nil {
			return
		}
		s = s[end:]
	}
}
