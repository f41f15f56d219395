package twin

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"strconv"
)

// document is a paste with what it holds.
type document struct {
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
	Pasties   []pasty  `json:"pasties"`
	Edits     []edit   `json:"edits"`
}

type pasty struct {
	ID       string `json:"_id"`
	Language string `json:"language"`
	Title    string `json:"title"`
	Code     string `json:"code"`
}

type edit struct {
	ID       string   `json:"_id"`
	EditID   int64    `json:"editId"`
	EditType byte     `json:"editType"`
	Metadata []string `json:"metadata"`
	Edit     string   `json:"edit"`
	EditedAt int64    `json:"editedAt"`
}

// The forms in which Gluepot stores content and edits, see adapters/gormstore/encoding.go.
const formContent, formEdit = 1, 1

// reader takes values off the front of what is stored, which it takes to be as it should.
type reader struct{ rest []byte }

func (r *reader) byte() (b byte) {
	b, r.rest = r.rest[0], r.rest[1:]
	return b
}

func (r *reader) number() int64 {
	n, size := binary.Varint(r.rest)
	r.rest = r.rest[size:]
	return n
}

func (r *reader) count() int {
	n, size := binary.Uvarint(r.rest)
	r.rest = r.rest[size:]
	return int(n)
}

func (r *reader) text() string {
	length := r.count()
	text := string(r.rest[:length])
	r.rest = r.rest[length:]
	return text
}

func (r *reader) texts() []string {
	texts := make([]string, r.count())
	for i := range texts {
		texts[i] = r.text()
	}
	return texts
}

// decode fills in what the document and the entries of the history hold.
func (d *document) decode(content, entries []byte) {
	r := reader{content}
	r.byte()
	d.Title, d.Tags = r.text(), r.texts()
	d.Pasties = make([]pasty, r.count())
	for i := range d.Pasties {
		p := &d.Pasties[i]
		p.ID, p.Title, p.Language, p.Code = r.text(), r.text(), r.text(), r.text()
	}
	d.Edits = []edit{}
	for r.rest = entries; len(r.rest) > 0; {
		r.count()
		r.byte()
		d.Edits = append(d.Edits, edit{
			ID: r.text(), EditID: r.number(), EditType: r.byte(), EditedAt: r.number(), Metadata: r.texts(), Edit: r.text(),
		})
	}
}

func (d *document) encode() []byte {
	b := appendTexts(appendText([]byte{formContent}, d.Title), d.Tags)
	b = binary.AppendUvarint(b, uint64(len(d.Pasties)))
	for _, p := range d.Pasties {
		b = appendText(appendText(appendText(appendText(b, p.ID), p.Title), p.Language), p.Code)
	}
	return b
}

func (e *edit) encode() []byte {
	b := appendText([]byte{formEdit}, e.ID)
	b = append(binary.AppendVarint(b, e.EditID), e.EditType)
	b = appendTexts(binary.AppendVarint(b, e.EditedAt), e.Metadata)
	b = appendText(b, e.Edit)
	return append(binary.AppendUvarint(nil, uint64(len(b))), b...)
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

// newID returns eight digits and letters, the first not 0.
func newID() string {
	const first = 36 * 36 * 36 * 36 * 36 * 36 * 36
	return strconv.FormatUint(first+rand.Uint64N(35*first), 36)
}

// marshal is json.Marshal without escapes that only HTML needs.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
