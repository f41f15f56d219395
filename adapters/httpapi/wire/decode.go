// Package wire reads what clients of the PasteMyst v2 API send: documents in JSON, and queries.
package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
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
	draft.Encrypted = encrypted || encrypt
	return draft, err
}

// DecodeChanges reads changes to a paste; clients may send the whole paste. It fails with a fault.Invalid.
func DecodeChanges(body []byte) (sent paste.Changes, err error) {
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

// fields are where the fields of an object go, by their names: a pointer or a reader.
type fields map[string]any

// reader reads the value of a field with that name.
type reader func(d decoder, name string) error

// decoder reads a body field by field. json.Unmarshal would accept "TITLE" as "title", and merge the values of a duplicate field instead
// of taking the last.
type decoder struct {
	*json.Decoder

	unknown error // of fields that are not expected; nil: they are ignored
}

// decode reads a body that is one object.
func decode(body []byte, unknown error, to fields) error {
	if !utf8.Valid(body) { // encoding/json would replace invalid bytes
		return errNotJSON
	}
	d := decoder{json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(body, []byte(ByteOrderMark)))), unknown}
	if err := d.object(errNotJSON, "", to); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errNotJSON
	}
	return nil
}

// ByteOrderMark may precede a document.
const ByteOrderMark = "\ufeff"

// object reads an object, whose fields have that prefix in errors. It fails with wrong for anything else.
func (d decoder) object(wrong error, prefix string, to fields) error {
	begin, err := d.Token()
	if err == nil && begin != json.Delim('{') {
		return wrong
	}
	for err == nil && d.More() {
		var key json.Token
		if key, err = d.Token(); err == nil {
			name, _ := key.(string)
			if err := d.value(prefix+name, to[name]); err != nil {
				return err
			}
		}
	}
	if err == nil {
		_, err = d.Token() // the bracket at the end
	}
	if err != nil {
		return errNotJSON
	}
	return nil
}

// value reads the value of a field. null leaves what is not a pointer as it is.
func (d decoder) value(name string, to any) error {
	switch known := to.(type) {
	case reader:
		return known(d, name)
	case nil:
		if d.unknown != nil {
			return d.unknown
		}
		to = new(json.RawMessage)
	}
	err := d.Decode(to)
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return Invalid("%s: it must be %s.", name, kinds[wrong.Type.Kind()])
	}
	if err != nil {
		return errNotJSON
	}
	return nil
}

var kinds = map[reflect.Kind]string{
	reflect.String: "a string", reflect.Bool: "true or false", reflect.Int16: "a whole number up to 32767",
}

// texts reads a string or an array of strings. null is nil.
func texts(to *[]string) reader {
	return func(d decoder, name string) error {
		var text json.RawMessage
		if d.Decode(&text) != nil {
			return errNotJSON
		}
		if text[0] == '"' {
			text = json.RawMessage("[" + string(text) + "]")
		} else if bytes.Count(text, []byte(",")) >= MaxParts {
			return Invalid("%s: there are more than %d.", name, MaxParts)
		}
		var sent []*string
		if json.Unmarshal(text, &sent) != nil || slices.Contains(sent, nil) { // the text is valid JSON, but of another type
			return Invalid("%s: it must be a string or an array of strings.", name)
		}
		*to = nil
		if sent != nil {
			*to = make([]string, len(sent))
		}
		for i, element := range sent {
			(*to)[i] = *element
		}
		return nil
	}
}

// list reads an array of objects with those fields. null is nil.
func list[T any](to *[]T, fieldsOf func(*T) fields) reader {
	return func(d decoder, name string) error {
		*to = nil
		begin, err := d.Token()
		switch {
		case err != nil:
			return errNotJSON
		case begin == nil:
			return nil
		case begin != json.Delim('['):
			return Invalid("%s: it must be an array.", name)
		}
		for i := 0; d.More(); i++ {
			if i == MaxParts {
				return Invalid("%s: there are more than %d.", name, MaxParts)
			}
			var read T
			element := fmt.Sprintf("%s[%d]", name, i)
			if err := d.object(Invalid("%s: it must be an object.", element), element+".", fieldsOf(&read)); err != nil {
				return err
			}
			*to = append(*to, read)
		}
		if _, err := d.Token(); err != nil { // the bracket at the end
			return errNotJSON
		}
		return nil
	}
}
