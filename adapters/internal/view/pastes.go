package view

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/gluepot/gluepot/domain/paste"
)

// pasteView is a paste up to its pasties, and pastyView and editView are their elements up to what may be long. The v2 API has these
// fields and no others: strict clients fail. Nothing is null.
type pasteView struct {
	ID        string   `json:"_id"`
	OwnerID   string   `json:"ownerId"`
	Title     string   `json:"title"`
	CreatedAt int64    `json:"createdAt"`
	ExpiresIn string   `json:"expiresIn"`
	DeletesAt int64    `json:"deletesAt"`
	Stars     int64    `json:"stars"`
	IsPrivate bool     `json:"isPrivate"`
	IsPublic  bool     `json:"isPublic"`
	Tags      []string `json:"tags"`
	Encrypted bool     `json:"encrypted"`
}

type pastyView struct {
	ID       string `json:"_id"`
	Language string `json:"language"`
	Title    string `json:"title"`
}

type editView struct {
	ID       string   `json:"_id"`
	EditID   int64    `json:"editId"`
	EditType int      `json:"editType"`
	Metadata []string `json:"metadata"`
}

func list(texts []string) []string {
	if texts == nil {
		return []string{}
	}
	return texts
}

// WritePaste writes a paste in pieces; one that its client has encrypted as such.
func WritePaste(to io.Writer, d *paste.Document) error {
	if d.Cipher != nil && d.Cipher.Version > 0 {
		return writeCipher(to, d)
	}
	w := newWriter(to)
	w.begin(pasteView{
		ID: string(d.ID), OwnerID: string(d.Owner), Title: d.Title, CreatedAt: d.CreatedAt.Unix(), ExpiresIn: string(d.ExpiresIn()),
		DeletesAt: d.DeletesAt(), Stars: d.Stars, IsPrivate: d.Visibility == paste.Private, IsPublic: d.Visibility == paste.Public,
		Tags: list(d.Tags), Encrypted: d.Encrypted(),
	})
	w.raw(`,"pasties":[`)
	for i, p := range d.Pasties {
		w.comma(i)
		w.begin(pastyView{ID: p.ID, Language: p.Language, Title: p.Title})
		w.raw(`,"code":`)
		w.text(p.Code)
		w.raw(`}`)
	}
	w.raw(`],"edits":[`)
	for i, e := range d.Edits {
		w.comma(i)
		w.begin(editView{ID: e.ID, EditID: e.Number, EditType: int(e.Type), Metadata: list(e.Metadata)})
		w.raw(`,"edit":`)
		w.text(e.Text)
		w.raw(`,"editedAt":` + strconv.FormatInt(e.At.Unix(), 10) + `}`)
	}
	w.raw(`]}`)
	return w.err
}

// writer writes JSON in pieces, so that a long text is never held a second time.
type writer struct {
	to      io.Writer
	encoder *json.Encoder
	encoded bytes.Buffer
	err     error // the first
}

func newWriter(to io.Writer) *writer {
	w := &writer{to: to}
	w.encoder = json.NewEncoder(&w.encoded)
	w.encoder.SetEscapeHTML(false)
	return w
}

func (w *writer) raw(text string) {
	if w.err == nil {
		_, w.err = io.WriteString(w.to, text)
	}
}

// inside writes v without what encloses it: so many bytes before, and a quote or bracket at the end.
func (w *writer) inside(v any, before int) {
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
func (w *writer) begin(v any) { w.inside(v, 0) }

// pieceLength is how much of a text is encoded at once, in bytes.
const pieceLength = 8 << 10

func (w *writer) text(s string) {
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

func (w *writer) comma(i int) {
	if i > 0 {
		w.raw(",")
	}
}
