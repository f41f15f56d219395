// Package wire reads what clients of the PasteMyst v2 API send: documents in JSON, and queries.
package wire

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"unicode/utf8"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
)

// MaxParts is the most elements of an array: an element of a few bytes takes many times as much memory.
const MaxParts = 1 << 16

// Invalid returns an error of the kind fault.Invalid.
func Invalid(format string, values ...any) error {
	return fault.New(fault.Invalid, fmt.Sprintf(format, values...))
}

var (
	errNotJSON      = Invalid("The body is not one JSON object in UTF-8.")
	errNotEncrypted = Invalid("An encrypted paste has only the fields version, cipher, salt, expiresIn, isPrivate and burn.")
)

// DecodeDraft reads a paste to create. It ignores the ids of pasties. It fails with a fault.Invalid.
func DecodeDraft(body []byte) (draft paste.Draft, err error) {
	var encrypted, encrypt bool
	err = decode(body, nil, fields{
		"title": &draft.Title, "isPrivate": &draft.Private, "isPublic": &draft.Public, "tags": texts(&draft.Tags),
		"expiresIn": &draft.Lifetime, "burn": &draft.Burns, "encrypted": &encrypted, "encrypt": &encrypt,
		"pasties": list(&draft.Pasties, func(p *paste.PastyDraft) fields {
			return fields{"title": &p.Title, "language": &p.Language, "code": &p.Code}
		}),
	})
	draft.Encrypted, draft.UnixLines = encrypted || encrypt, true
	return draft, err
}

// DecodeChanges reads changes to a paste; clients may send the whole paste. It fails with a fault.Invalid.
func DecodeChanges(body []byte) (sent paste.Changes, err error) {
	sent.UnixLines = true
	err = decode(body, nil, fields{
		"title": &sent.Title, "isPrivate": &sent.Private, "isPublic": &sent.Public, "tags": texts(&sent.Tags),
		"pasties": list(&sent.Pasties, func(p *paste.PastyChanges) fields {
			return fields{"_id": &p.ID, "title": &p.Title, "language": &p.Language, "code": &p.Code}
		}),
	})
	return sent, err
}

// DecodeEncrypted reads an encrypted paste to create. It refuses other fields, which may be meant to be secret. It fails with a
// fault.Invalid.
func DecodeEncrypted(body []byte) (draft paste.Draft, err error) {
	var version int16
	var cipher, salt string
	err = decode(body, errNotEncrypted, fields{
		"version": &version, "cipher": &cipher, "salt": &salt,
		"expiresIn": &draft.Lifetime, "isPrivate": &draft.Private, "burn": &draft.Burns,
	})
	if err != nil {
		return draft, err
	}
	draft.Cipher = &paste.Cipher{Version: int(version)}
	if draft.Cipher.Data, err = base64.RawURLEncoding.Strict().DecodeString(cipher); err != nil {
		return draft, Invalid("cipher: it must be base64url without padding.")
	}
	if draft.Cipher.Salt, err = base64.RawURLEncoding.Strict().DecodeString(salt); err != nil {
		return draft, Invalid("salt: it must be base64url without padding.")
	}
	return draft, nil
}

// fields has the destination of each field of an object, by name: a pointer or a reader.
type fields map[string]any

// reader reads the value of a field with that name.
type reader func(d *decoder, name string)

// decoder reads a body field by field. json.Unmarshal would accept "TITLE" as "title", and merge the values of a duplicate field instead
// of taking the last.
type decoder struct {
	*json.Decoder

	unknown error // of fields that are not expected; nil: they are ignored
	err     error // the first
}

// decode reads a body that is one object.
func decode(body []byte, unknown error, to fields) error {
	if !utf8.Valid(body) { // encoding/json would replace invalid bytes
		return errNotJSON
	}
	d := &decoder{Decoder: json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(body, []byte(ByteOrderMark)))), unknown: unknown}
	d.UseNumber() // JSON has numbers that fit no type of Go
	d.object(errNotJSON, "", to)
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		d.fail(errNotJSON)
	}
	return d.err
}

// ByteOrderMark may precede a document.
const ByteOrderMark = "\ufeff"

func (d *decoder) fail(err error) { d.err = cmp.Or(d.err, err) }

func (d *decoder) token() json.Token {
	token, err := d.Token()
	if err != nil {
		d.fail(errNotJSON)
	}
	return token
}

// read decodes the next value.
func (d *decoder) read(name string, to any) {
	err := d.Decode(to)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		d.fail(Invalid("%s: it must be %s.", name, kinds[wrong.Type.Kind()]))
	} else if err != nil {
		d.fail(errNotJSON)
	}
}

var kinds = map[reflect.Kind]string{
	reflect.String: "a string", reflect.Bool: "true or false", reflect.Int16: "a whole number up to 32767",
}

// object reads an object, whose fields have that prefix in errors. It fails with wrong for anything else. null leaves the value of a field
// that is not a pointer as it is.
func (d *decoder) object(wrong error, prefix string, to fields) {
	if d.token() != json.Delim('{') {
		d.fail(wrong)
	}
	for d.err == nil && d.More() {
		key, _ := d.token().(string)
		switch known := to[key].(type) {
		case reader:
			known(d, prefix+key)
		case nil:
			d.fail(d.unknown)
			d.read("", new(json.RawMessage))
		default:
			d.read(prefix+key, known)
		}
	}
	d.token() // the bracket at the end
}

// texts reads a string or an array of strings. null is nil.
func texts(to *[]string) reader {
	return func(d *decoder, name string) {
		text := func(token json.Token) string {
			text, ok := token.(string)
			if !ok {
				d.fail(Invalid("%s: it must be a string or an array of strings.", name))
			}
			return text
		}
		*to = nil
		switch begin := d.token(); begin {
		case nil:
		case json.Delim('['):
			*to = []string{}
			d.elements(name, func(int) { *to = append(*to, text(d.token())) })
		default:
			*to = []string{text(begin)}
		}
	}
}

// list reads an array of objects with those fields. null is nil.
func list[T any](to *[]T, fieldsOf func(*T) fields) reader {
	return func(d *decoder, name string) {
		*to = nil
		switch d.token() {
		case nil:
		case json.Delim('['):
			d.elements(name, func(i int) {
				var read T
				element := fmt.Sprintf("%s[%d]", name, i)
				d.object(Invalid("%s: it must be an object.", element), element+".", fieldsOf(&read))
				*to = append(*to, read)
			})
		default:
			d.fail(Invalid("%s: it must be an array.", name))
		}
	}
}

// elements reads an array after its first bracket.
func (d *decoder) elements(name string, read func(i int)) {
	for i := 0; d.err == nil && d.More(); i++ {
		if i == MaxParts {
			d.fail(Invalid("%s: there are more than %d.", name, MaxParts))
			return
		}
		read(i)
	}
	d.token() // the bracket at the end
}
