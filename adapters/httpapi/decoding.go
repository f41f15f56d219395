package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/gluepot/gluepot/domain/fault"
)

// maxParts is how many elements are read of one array: each takes many times the memory of the few bytes that a client
// needs for it. Settings can allow less.
const maxParts = 1 << 16

func invalid(format string, values ...any) error {
	return fault.New(fault.Invalid, fmt.Sprintf(format, values...))
}

var (
	errEmpty    = invalid("The body is empty. Send a JSON object.")
	errNoObject = invalid("The body is not a JSON object.")
	errNotJSON  = invalid("The body is not valid JSON.")
	errTrailing = invalid("The body has something after its JSON object.")
	errNotUTF8  = invalid("The body is not valid UTF-8.")
)

// decoder reads the JSON of a body value by value, so that what nobody asked for takes no memory. Names of fields are
// compared byte by byte; of those that occur twice, the last one counts. Its errors can be shown: fault.Invalid.
type decoder struct{ json *json.Decoder }

// decode reads a body that is one object, and calls field with the name of each of its fields, which has to read the value.
func decode(b *body, field func(d decoder, name string) error) error {
	if b.size == 0 {
		return errEmpty
	}
	text := b.reader()
	var first [len(byteOrderMark)]byte
	if n, _ := text.ReadAt(first[:], 0); string(first[:n]) == byteOrderMark {
		_, _ = text.Seek(int64(n), io.SeekStart) // cannot fail
	}
	d := decoder{json.NewDecoder(&validUTF8{from: text})}
	begin, err := d.json.Token()
	switch {
	case err != nil:
		return malformed(err)
	case begin != json.Delim('{'):
		return errNoObject
	}
	if err := d.fields(func(name string) error { return field(d, name) }); err != nil {
		return err
	}
	if _, err := d.json.Token(); !errors.Is(err, io.EOF) {
		if errors.Is(err, errNotUTF8) {
			return errNotUTF8
		}
		return errTrailing
	}
	return nil
}

const byteOrderMark = "\ufeff"

// fields reads the rest of an object that has begun.
func (d decoder) fields(field func(name string) error) error {
	for d.json.More() {
		name, err := d.json.Token()
		if err != nil {
			return malformed(err)
		}
		text, _ := name.(string) // the decoder takes nothing else
		if err := field(text); err != nil {
			return err
		}
	}
	return d.end()
}

// end reads the end of an object or array.
func (d decoder) end() error {
	if _, err := d.json.Token(); err != nil {
		return malformed(err)
	}
	return nil
}

// array reads a value that is an array, for each element of which it calls element, or null.
func (d decoder) array(name string, element func(i int) error) error {
	switch begin, err := d.json.Token(); {
	case err != nil:
		return malformed(err)
	case begin == nil:
		return nil
	case begin != json.Delim('['):
		return invalid("%s: it must be an array.", name)
	}
	return d.elements(name, element)
}

// elements reads the rest of an array that has begun.
func (d decoder) elements(name string, element func(i int) error) error {
	for i := 0; d.json.More(); i++ {
		if i == maxParts {
			return invalid("%s: there are more than %d.", name, maxParts)
		}
		if err := element(i); err != nil {
			return err
		}
	}
	return d.end()
}

// object reads a value that is an object.
func (d decoder) object(name string, field func(name string) error) error {
	switch begin, err := d.json.Token(); {
	case err != nil:
		return malformed(err)
	case begin != json.Delim('{'):
		return invalid("%s: it must be an object.", name)
	}
	return d.fields(field)
}

// text reads a string, or null. A lone surrogate becomes U+FFFD.
func (d decoder) text(name string) (*string, error) { return scalar[string](d, name, "a string") }

// boolean reads true or false; null is false.
func (d decoder) boolean(name string) (*bool, error) { return scalar[bool](d, name, "true or false") }

func scalar[T any](d decoder, name, kind string) (*T, error) {
	var value *T
	err := d.json.Decode(&value)
	if _, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return nil, invalid("%s: it must be %s.", name, kind)
	}
	if err != nil {
		return nil, malformed(err)
	}
	return value, nil
}

// texts reads a string or an array of strings; it returns nil for null.
func (d decoder) texts(name string) ([]string, error) {
	texts, wrong := []string{}, invalid("%s: it must be a string or an array of strings.", name)
	begin, err := d.json.Token()
	if err != nil {
		return nil, malformed(err)
	}
	switch begin := begin.(type) {
	case nil:
		return nil, nil
	case string:
		return append(texts, begin), nil
	case json.Delim:
		if begin != '[' {
			return nil, wrong
		}
	default:
		return nil, wrong
	}
	err = d.elements(name, func(int) error {
		element, err := d.json.Token()
		if err != nil {
			return malformed(err)
		}
		text, ok := element.(string)
		if !ok {
			return wrong
		}
		texts = append(texts, text)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return texts, nil
}

// skip reads a value of any type and drops it.
func (d decoder) skip() error {
	if err := d.json.Decode(new(ignored)); err != nil {
		return malformed(err)
	}
	return nil
}

// ignored takes any value, and nothing of it.
type ignored struct{}

// UnmarshalJSON implements json.Unmarshaler.
func (*ignored) UnmarshalJSON([]byte) error { return nil }

// malformed is the error to show for one of the decoder, or of what it reads.
func malformed(err error) error {
	if errors.Is(err, errNotUTF8) {
		return errNotUTF8
	}
	if _, ok := errors.AsType[*json.SyntaxError](err); ok || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errNotJSON
	}
	return err // of the file
}

// validUTF8 fails with errNotUTF8 where what it reads is none: the decoder would replace it.
type validUTF8 struct {
	from  io.Reader
	begun [utf8.UTFMax]byte // of a character whose end is yet to be read
	count int
}

// Read implements io.Reader.
func (v *validUTF8) Read(p []byte) (int, error) {
	n, err := v.from.Read(p)
	rest := p[:n]
	for v.count > 0 && len(rest) > 0 {
		v.begun[v.count], rest = rest[0], rest[1:]
		if v.count++; utf8.FullRune(v.begun[:v.count]) {
			if !utf8.Valid(v.begun[:v.count]) {
				return 0, errNotUTF8
			}
			v.count = 0
		}
	}
	for last := len(rest) - 1; last >= max(0, len(rest)-utf8.UTFMax+1); last-- {
		if utf8.RuneStart(rest[last]) {
			if !utf8.FullRune(rest[last:]) {
				v.count = copy(v.begun[:], rest[last:])
				rest = rest[:last]
			}
			break
		}
	}
	if !utf8.Valid(rest) || v.count > 0 && errors.Is(err, io.EOF) {
		return 0, errNotUTF8
	}
	return n, err
}
