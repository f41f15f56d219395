package httpapi

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gluepot/gluepot/domain/fault"
)

const (
	// maxParts is how many elements are read of one array: each takes many times the memory of the few bytes that a client
	// needs for it. Settings can allow less.
	maxParts = 1 << 16
	// maxDepth is how many objects and arrays may stand one within the other: each takes a piece of the stack.
	maxDepth = 1000
)

func invalid(format string, values ...any) error {
	return fault.New(fault.Invalid, fmt.Sprintf(format, values...))
}

var (
	errEmpty    = invalid("The body is empty. Send a JSON object.")
	errNoObject = invalid("The body is not a JSON object.")
	errNotJSON  = invalid("The body is not valid JSON.")
	errTooDeep  = invalid("The body has more than %d objects and arrays one within the other.", maxDepth)
	errTrailing = invalid("The body has something after its JSON object.")
	errNotUTF8  = invalid("The body is not valid UTF-8.")
)

// decoder reads JSON (RFC 8259) value by value, and what nobody asked for takes no memory. Strings without escapes are parts of
// the text, not copies. It takes what encoding/json takes, in less than half of the time (decision 0039). Names of fields are compared
// byte by byte; of those that occur twice, the last one counts. Its errors can be shown: fault.Invalid.
type decoder struct {
	rest  string // what has not been read
	depth int    // of the objects and arrays that have begun
}

// decode reads a body that is one object, and calls field with the name of each of its fields, which has to read the value.
func decode(b *body, field func(d *decoder, name string) error) error {
	text, err := b.text()
	switch {
	case err != nil:
		return err
	case text == "":
		return errEmpty
	case !utf8.ValidString(text):
		return errNotUTF8
	}
	d := &decoder{rest: strings.TrimPrefix(text, byteOrderMark)}
	if d.next() != '{' {
		return d.mismatch(errNoObject)
	}
	if err := d.fields(func(name string) error { return field(d, name) }); err != nil {
		return err
	}
	if d.next(); d.rest != "" {
		return errTrailing
	}
	return nil
}

const byteOrderMark = "\ufeff"

// next skips white space and returns the byte after it, which it does not take, or at the end 0, with which no value begins.
func (d *decoder) next() byte {
	for i := range len(d.rest) {
		switch c := d.rest[i]; c {
		case ' ', '\t', '\r', '\n':
		default:
			d.rest = d.rest[i:]
			return c
		}
	}
	d.rest = ""
	return 0
}

// take takes the next byte if it is this one.
func (d *decoder) take(c byte) bool {
	if d.next() != c {
		return false
	}
	d.rest = d.rest[1:]
	return true
}

// list calls element for each thing between two brackets.
func (d *decoder) list(begin, end byte, element func(i int) error) error {
	if !d.take(begin) {
		return errNotJSON
	}
	if d.depth++; d.depth > maxDepth {
		return errTooDeep
	}
	for i := 0; i > 0 || d.next() != end; i++ {
		if err := element(i); err != nil {
			return err
		}
		if !d.take(',') {
			break
		}
	}
	if !d.take(end) {
		return errNotJSON
	}
	d.depth--
	return nil
}

// fields reads an object.
func (d *decoder) fields(field func(name string) error) error {
	return d.list('{', '}', func(int) error {
		name, err := d.string()
		if err == nil && !d.take(':') {
			err = errNotJSON
		}
		if err != nil {
			return err
		}
		return field(name)
	})
}

// elements reads an array.
func (d *decoder) elements(name string, element func(i int) error) error {
	return d.list('[', ']', func(i int) error {
		if i == maxParts {
			return invalid("%s: there are more than %d.", name, maxParts)
		}
		return element(i)
	})
}

// array reads a value that is an array, for each element of which it calls element, or null.
func (d *decoder) array(name string, element func(i int) error) error {
	switch d.next() {
	case '[':
		return d.elements(name, element)
	case 'n':
		return d.literal("null")
	default:
		return d.mismatch(invalid("%s: it must be an array.", name))
	}
}

// object reads a value that is an object.
func (d *decoder) object(name string, field func(name string) error) error {
	if d.next() != '{' {
		return d.mismatch(invalid("%s: it must be an object.", name))
	}
	return d.fields(field)
}

// text reads a string, or null. A lone surrogate becomes U+FFFD.
func (d *decoder) text(name string) (*string, error) {
	switch d.next() {
	case '"':
		text, err := d.string()
		return &text, err
	case 'n':
		return nil, d.literal("null")
	default:
		return nil, d.mismatch(invalid("%s: it must be a string.", name))
	}
}

// boolean reads true or false, or null.
func (d *decoder) boolean(name string) (*bool, error) {
	switch d.next() {
	case 't':
		return new(true), d.literal("true")
	case 'f':
		return new(false), d.literal("false")
	case 'n':
		return nil, d.literal("null")
	default:
		return nil, d.mismatch(invalid("%s: it must be true or false.", name))
	}
}

// texts reads a string or an array of strings; it returns nil for null.
func (d *decoder) texts(name string) ([]string, error) {
	texts, wrong := []string{}, invalid("%s: it must be a string or an array of strings.", name)
	add := func(int) error {
		if d.next() != '"' {
			return d.mismatch(wrong)
		}
		text, err := d.string()
		texts = append(texts, text)
		return err
	}
	switch d.next() {
	case '[':
		return texts, d.elements(name, add)
	case 'n':
		return nil, d.literal("null")
	default:
		return texts, add(0)
	}
}

// mismatch reads a value of another type than was expected, and returns wrong unless it is no value at all.
func (d *decoder) mismatch(wrong error) error {
	if err := d.skip(); err != nil {
		return err
	}
	return wrong
}

// skip reads a value of any type and drops it.
func (d *decoder) skip() error {
	switch d.next() {
	case '{':
		return d.fields(func(string) error { return d.skip() })
	case '[':
		return d.list('[', ']', func(int) error { return d.skip() })
	case '"':
		_, _, err := d.quoted()
		return err
	case 't':
		return d.literal("true")
	case 'f':
		return d.literal("false")
	case 'n':
		return d.literal("null")
	default:
		return d.number()
	}
}

func (d *decoder) literal(text string) (err error) {
	var ok bool
	if d.rest, ok = strings.CutPrefix(d.rest, text); !ok {
		return errNotJSON
	}
	return nil
}

func (d *decoder) number() error {
	d.rest = strings.TrimPrefix(d.rest, "-")
	if rest, ok := strings.CutPrefix(d.rest, "0"); ok {
		d.rest = rest
	} else if err := d.digits(); err != nil {
		return err
	}
	if rest, ok := strings.CutPrefix(d.rest, "."); ok {
		d.rest = rest
		if err := d.digits(); err != nil {
			return err
		}
	}
	if d.rest != "" && d.rest[0]|0x20 == 'e' {
		if d.rest = d.rest[1:]; d.rest != "" && (d.rest[0] == '+' || d.rest[0] == '-') {
			d.rest = d.rest[1:]
		}
		return d.digits()
	}
	return nil
}

// digits takes one or more.
func (d *decoder) digits() error {
	rest := strings.TrimLeft(d.rest, "0123456789")
	if len(rest) == len(d.rest) {
		return errNotJSON
	}
	d.rest = rest
	return nil
}

// string reads a string.
func (d *decoder) string() (string, error) {
	text, escaped, err := d.quoted()
	if escaped {
		text = unescapeJSON(text)
	}
	return text, err
}

// quoted reads a string and returns what stands between its quotation marks, and whether some of it is escaped.
func (d *decoder) quoted() (text string, escaped bool, err error) {
	if !d.take('"') {
		return "", false, errNotJSON
	}
	for i := 0; i < len(d.rest); i++ {
		switch c := d.rest[i]; {
		case c >= ' ' && c != '"' && c != '\\':
		case c == '"':
			text, d.rest = d.rest[:i], d.rest[i+1:]
			return text, escaped, nil
		case c == '\\':
			length := escapeLength(d.rest[i:])
			if length == 0 {
				return "", false, errNotJSON
			}
			i, escaped = i+length-1, true
		default:
			return "", false, errNotJSON
		}
	}
	return "", false, errNotJSON // it does not end
}

// escapeLength returns how long the escape is with which the text begins, or 0 when it is none.
func escapeLength(text string) int {
	switch {
	case len(text) < 2:
		return 0
	case escapes[text[1]] != 0:
		return 2
	case text[1] == 'u' && codeUnit(text) >= 0:
		return unitLength
	}
	return 0
}

// escapes are what the escapes of two characters stand for, by the second.
var escapes = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

const unitLength = len(`\u0000`)

// codeUnit returns that of UTF-16 which the escape stands for with which the text begins, or -1 when it is none.
func codeUnit(text string) (unit rune) {
	if len(text) < unitLength || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	for _, c := range []byte(text[2:unitLength]) {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		unit = unit<<4 | rune(c)
	}
	return unit
}

// unescapeJSON returns the text without its escapes, which are right.
func unescapeJSON(text string) string {
	var plain strings.Builder
	plain.Grow(len(text))
	for {
		before, _, escaped := strings.Cut(text, `\`)
		plain.WriteString(before)
		if !escaped {
			return plain.String()
		}
		text = text[len(before):]
		if c := escapes[text[1]]; c != 0 {
			plain.WriteByte(c)
			text = text[2:]
			continue
		}
		unit := codeUnit(text)
		text = text[unitLength:]
		if utf16.IsSurrogate(unit) {
			if unit = utf16.DecodeRune(unit, codeUnit(text)); unit != utf8.RuneError {
				text = text[unitLength:]
			}
		}
		plain.WriteRune(unit)
	}
}
