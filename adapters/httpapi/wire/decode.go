// Package wire reads what clients of the PasteMyst v2 API send: documents in JSON, and queries.
package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	errEmpty    = Invalid("The body is empty. Send a JSON object.")
	errNoObject = Invalid("The body is not a JSON object.")
	errNotJSON  = Invalid("The body is not valid JSON.")
	errTrailing = Invalid("The body has something after its JSON object.")
	errNotUTF8  = Invalid("The body is not valid UTF-8.")
)

// decoder reads a body token by token. json.Unmarshal would accept "TITLE" as "title", and merge the values of a duplicate field instead
// of taking the last. Methods that read a value return nil for null.
type decoder struct{ *json.Decoder }

// decode reads a body that is one object. It calls field with each name; field must read the value.
func decode(body []byte, field func(d decoder, name string) error) error {
	switch {
	case len(body) == 0:
		return errEmpty
	case !utf8.Valid(body): // encoding/json would replace invalid bytes
		return errNotUTF8
	}
	d := decoder{json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(body, []byte(ByteOrderMark))))}
	d.UseNumber()
	err := d.object(errNoObject, func(name string) error { return field(d, name) })
	if err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errTrailing
	}
	return nil
}

// ByteOrderMark may precede a document.
const ByteOrderMark = "\ufeff"

// next returns a scalar value or a bracket.
func (d decoder) next() (json.Token, error) {
	token, err := d.Token()
	if err != nil {
		return nil, errNotJSON
	}
	return token, nil
}

// skip reads a value of any type.
func (d decoder) skip() error {
	if d.Decode(new(json.RawMessage)) != nil {
		return errNotJSON
	}
	return nil
}

// object reads an object and calls field with each name. It fails with wrong for anything else.
func (d decoder) object(wrong error, field func(name string) error) error {
	begin, err := d.next()
	if err == nil && begin != json.Delim('{') {
		err = wrong
	}
	for err == nil && d.More() {
		var key json.Token
		if key, err = d.next(); err == nil {
			name, _ := key.(string)
			err = field(name)
		}
	}
	if err == nil {
		_, err = d.next() // the bracket at the end
	}
	return err
}

// elements reads the rest of an array.
func (d decoder) elements(name string, element func(i int) error) error {
	for i := 0; d.More(); i++ {
		if i == MaxParts {
			return Invalid("%s: there are more than %d.", name, MaxParts)
		}
		if err := element(i); err != nil {
			return err
		}
	}
	_, err := d.next()
	return err
}

// array reads an array and calls element for each element.
func (d decoder) array(name string, element func(i int) error) error {
	begin, err := d.next()
	switch {
	case err != nil || begin == nil:
		return err
	case begin != json.Delim('['):
		return Invalid("%s: it must be an array.", name)
	}
	return d.elements(name, element)
}

func (d decoder) text(name string) (*string, error) {
	return scalar[string](d, name, "a string")
}

func (d decoder) boolean(name string) (*bool, error) {
	return scalar[bool](d, name, "true or false")
}

func scalar[T any](d decoder, name, kind string) (*T, error) {
	token, err := d.next()
	if err != nil || token == nil {
		return nil, err
	}
	value, ok := token.(T)
	if !ok {
		return nil, Invalid("%s: it must be %s.", name, kind)
	}
	return &value, nil
}

// texts reads a string or an array of strings.
func (d decoder) texts(name string) (texts []string, err error) {
	add := func(token json.Token) error {
		text, ok := token.(string)
		if !ok {
			return Invalid("%s: it must be a string or an array of strings.", name)
		}
		texts = append(texts, text)
		return nil
	}
	first, err := d.next()
	switch {
	case err != nil || first == nil:
		return nil, err
	case first != json.Delim('['):
		err = add(first)
		return texts, err
	}
	texts = []string{}
	err = d.elements(name, func(int) error {
		token, err := d.next()
		if err == nil {
			err = add(token)
		}
		return err
	})
	return texts, err
}

// DecodeDraft reads a paste to create. It fails with a fault.Invalid.
func DecodeDraft(body []byte) (draft paste.Draft, err error) {
	var burn, encrypted, encrypt *bool
	sent, err := decodePaste(body, false, func(d decoder, name string) (err error) {
		switch name {
		case "expiresIn":
			draft.Lifetime, err = d.text(name)
		case "burn":
			burn, err = d.boolean(name)
		case "encrypted":
			encrypted, err = d.boolean(name)
		case "encrypt":
			encrypt, err = d.boolean(name)
		default:
			err = d.skip()
		}
		return err
	})
	draft.Title, draft.Private, draft.Public, draft.Tags = Value(sent.Title), Value(sent.Private), Value(sent.Public), sent.Tags
	draft.Burns, draft.Encrypted = Value(burn), Value(encrypted) || Value(encrypt)
	for _, pasty := range sent.Pasties {
		draft.Pasties = append(draft.Pasties, paste.PastyDraft{Title: Value(pasty.Title), Language: pasty.Language, Code: pasty.Code})
	}
	return draft, err
}

// DecodeChanges reads changes to a paste; clients may send the whole paste. It fails with a fault.Invalid.
func DecodeChanges(body []byte) (paste.Changes, error) {
	return decodePaste(body, true, func(d decoder, _ string) error { return d.skip() })
}

// decodePaste reads the fields that new and stored pastes share, and calls other for the rest.
func decodePaste(body []byte, stored bool, other func(d decoder, name string) error) (sent paste.Changes, err error) {
	err = decode(body, func(d decoder, name string) (err error) {
		switch name {
		case "title":
			sent.Title, err = d.text(name)
		case "isPrivate":
			sent.Private, err = d.boolean(name)
		case "isPublic":
			sent.Public, err = d.boolean(name)
		case "tags":
			sent.Tags, err = d.texts(name)
		case "pasties":
			sent.Pasties = nil
			err = d.array(name, func(i int) error {
				pasty, err := d.pasty(i, stored)
				sent.Pasties = append(sent.Pasties, pasty)
				return err
			})
		default:
			err = other(d, name)
		}
		return err
	})
	return sent, err
}

// pasty reads a pasty. It ignores the id of a new one.
func (d decoder) pasty(i int, stored bool) (pasty paste.PastyChanges, err error) {
	element := fmt.Sprintf("pasties[%d]", i)
	err = d.object(Invalid("%s: it must be an object.", element), func(name string) (err error) {
		switch {
		case name == "title":
			pasty.Title, err = d.text(element + ".title")
		case name == "language":
			pasty.Language, err = d.text(element + ".language")
		case name == "code":
			pasty.Code, err = d.text(element + ".code")
		case name == "_id" && stored:
			var known *string
			known, err = d.text(element + "._id")
			pasty.ID = Value(known)
		default:
			err = d.skip()
		}
		return err
	})
	return pasty, err
}

// Value returns *p, or zero for nil.
func Value[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}
