package pastemyst

import (
	"bytes"
	"encoding/json"
	"iter"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gluepot/gluepot/domain/fault"
)

// What is read of a document is bounded before it is decoded: encoding/json alone would make of 24 MiB of
// broken export whatever it asks for. All others here need text that valid has seen.

const (
	// maxText is the longest text of a member that is read, in bytes as it stands in the document.
	maxText = 64 << 10
	// maxNumber is the same of a number, extended JSON included.
	maxNumber = 256
	// maxName is the longest name of a member that is looked at, in bytes: all that are read are far shorter.
	maxName = 128
)

var (
	errNotJSON     = fault.New(fault.Invalid, "The record is not a JSON object of the expected form.")
	errTextTooLong = fault.New(fault.Invalid, "A text of the record is longer than 64 KiB.")
)

// maxSkeleton is up to which length of what is left of a document without its texts valid keeps that, in bytes.
const maxSkeleton = 64 << 10

// valid returns what json.Valid does. A document is texts for the most part, so it looks at these itself, in a fraction of the time,
// and leaves the rest to json.Valid with empty ones in their places.
func valid(document []byte) bool {
	skeleton := make([]byte, 0, 512)
	for rest := document; ; {
		between := rest
		if quote := bytes.IndexByte(rest, '"'); quote >= 0 {
			between = rest[:quote]
		}
		if len(skeleton)+len(between) > maxSkeleton {
			return json.Valid(document)
		}
		skeleton = append(skeleton, between...)
		if rest = rest[len(between):]; len(rest) == 0 {
			return json.Valid(skeleton)
		}
		length := validString(rest)
		if length == 0 {
			return false
		}
		skeleton = append(skeleton, `""`...)
		rest = rest[length:]
	}
}

// validString returns the length of the string at the beginning of text, or 0 if there is no valid one.
func validString(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return i + 1
		case c < ' ':
			return 0
		case c == '\\':
			length := validEscape(text[i:])
			if length == 0 {
				return 0
			}
			i += length - 1
		}
	}
	return 0
}

// validEscape returns the length of the escape sequence at the beginning of text, or 0 if there is no valid one.
func validEscape(text []byte) int {
	if len(text) < 2 {
		return 0
	}
	switch text[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(text) >= 6 && isHexadecimal(text[2]) && isHexadecimal(text[3]) && isHexadecimal(text[4]) && isHexadecimal(text[5]) {
			return 6
		}
	}
	return 0
}

func isHexadecimal(digit byte) bool {
	return '0' <= digit && digit <= '9' || 'a' <= digit && digit <= 'f' || 'A' <= digit && digit <= 'F'
}

// members yields the names, as they stand in it, and the values of a JSON object.
func members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		for rest := inside(object); len(rest) > 0; rest = bytes.TrimLeft(rest, separators) {
			name := rest[:valueEnd(rest)]
			rest = bytes.TrimLeft(rest[len(name):], separators)
			value := rest[:valueEnd(rest)]
			rest = rest[len(value):]
			if !yield(name, value) {
				return
			}
		}
	}
}

// eachMember calls visit with the name and the value of each member of an object. An error of visit ends it.
func eachMember(object []byte, visit func(name, value []byte) error) error {
	if object[0] != '{' {
		return errNotJSON
	}
	for quoted, value := range members(object) {
		if len(quoted) > maxName {
			continue
		}
		name := quoted[1 : len(quoted)-1]
		if bytes.IndexByte(name, '\\') >= 0 {
			name = []byte(unquote(quoted))
		}
		if err := visit(name, value); err != nil {
			return err
		}
	}
	return nil
}

// values yields the elements of a JSON array.
func values(array []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for rest := inside(array); len(rest) > 0; rest = bytes.TrimLeft(rest, separators) {
			value := rest[:valueEnd(rest)]
			rest = rest[len(value):]
			if !yield(value) {
				return
			}
		}
	}
}

// separators stand between values; which, and where, valid has checked.
const separators = space + ",:"

// inside returns what is between the brackets of an object or an array.
func inside(text []byte) []byte {
	return bytes.TrimLeft(bytes.TrimRight(text[1:len(text)-1], space), separators)
}

// valueEnd returns where the value at the beginning of text ends.
func valueEnd(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i += stringEnd(text[i:]) - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return i
			}
			continue
		default:
			continue // of a number or a word, which ends before one of the above
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(text)
}

// stringEnd returns where the string at the beginning of text ends.
func stringEnd(text []byte) int {
	end := 1
	for {
		end += bytes.IndexByte(text[end:], '"') + 1
		backslashes := 0
		for text[end-2-backslashes] == '\\' {
			backslashes++
		}
		if backslashes%2 == 0 {
			return end
		}
	}
}

// unquote returns what a string says. As encoding/json does, it takes half a surrogate pair for U+FFFD; bytes that are not valid
// UTF-8 stay as they are.
func unquote(quoted []byte) string {
	rest := quoted[1 : len(quoted)-1]
	escape := bytes.IndexByte(rest, '\\')
	if escape < 0 {
		return string(rest)
	}
	var text strings.Builder
	text.Grow(len(rest)) // no escape is shorter than what it stands for
	for ; escape >= 0; escape = bytes.IndexByte(rest, '\\') {
		text.Write(rest[:escape])
		kind := rest[escape+1]
		rest = rest[escape+2:]
		if kind != 'u' {
			text.WriteByte(escaped(kind))
			continue
		}
		r := codeUnit(rest)
		rest = rest[4:]
		if utf16.IsSurrogate(r) {
			second := rune(0)
			if bytes.HasPrefix(rest, []byte(`\u`)) {
				second = codeUnit(rest[2:])
			}
			if r = utf16.DecodeRune(r, second); r != utf8.RuneError {
				rest = rest[6:]
			}
		}
		text.WriteRune(r)
	}
	text.Write(rest)
	return text.String()
}

// escaped returns what the letter after a backslash stands for.
func escaped(letter byte) byte {
	switch letter {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return letter
}

// codeUnit reads the four hexadecimal digits at the beginning of text.
func codeUnit(text []byte) (unit rune) {
	for _, digit := range text[:4] {
		switch {
		case digit >= 'a':
			digit -= 'a' - 10
		case digit >= 'A':
			digit -= 'A' - 10
		default:
			digit -= '0'
		}
		unit = unit<<4 | rune(digit)
	}
	return unit
}

func isNull(value []byte) bool { return value[0] == 'n' }

// readText reads a string. null changes nothing; that holds for all of these.
func readText(value []byte, text *string) error {
	switch {
	case isNull(value):
		return nil
	case value[0] != '"':
		return errNotJSON
	case len(value) > maxText:
		return errTextTooLong
	case bytes.IndexByte(value, '\\') < 0 && utf8.Valid(value):
		*text = string(value[1 : len(value)-1])
		return nil
	}
	if json.Unmarshal(value, text) != nil {
		return errNotJSON
	}
	return nil
}

func readBool(value []byte, is *bool) error {
	switch string(value) {
	case "null":
	case "true", "false":
		*is = value[0] == 't'
	default:
		return errNotJSON
	}
	return nil
}

// readNumber reads a whole number, plain or in MongoDB's extended JSON: {"$numberLong":"24"},
// {"$numberInt":"24"}, {"$numberDouble":"24.0"}.
func readNumber(value []byte, n *int64) error {
	if isNull(value) {
		return nil
	}
	if len(value) > maxNumber {
		return errNotJSON
	}
	plain := string(value)
	if value[0] == '{' {
		var extended map[string]string
		if err := json.Unmarshal(value, &extended); err != nil || len(extended) != 1 {
			return errNotJSON
		}
		for kind, digits := range extended {
			if kind != "$numberLong" && kind != "$numberInt" && kind != "$numberDouble" {
				return errNotJSON
			}
			plain = digits
		}
	}
	if whole, err := strconv.ParseInt(plain, 10, 64); err == nil {
		*n = whole
		return nil
	}
	float, err := strconv.ParseFloat(plain, 64)
	if err != nil || float != math.Trunc(float) || math.Abs(float) > 1<<53 {
		return errNotJSON
	}
	*n = int64(float)
	return nil
}

// readLongText reads a string of any length.
func readLongText(value []byte, text *string) error {
	switch {
	case isNull(value):
		return nil
	case value[0] != '"':
		return errNotJSON
	}
	*text = unquote(value)
	return nil
}

// readTexts reads an array of strings, at most limit+1 of them.
func readTexts(value []byte, texts *[]string, limit int) error {
	return readList(value, texts, limit, readText)
}

// readList reads an array, at most limit+1 elements of it.
func readList[T any](value []byte, list *[]T, limit int, read func(value []byte, element *T) error) error {
	if isNull(value) {
		return nil
	}
	if value[0] != '[' {
		return errNotJSON
	}
	*list = nil
	for text := range values(value) {
		var element T
		if err := read(text, &element); err != nil {
			return err
		}
		if *list = append(*list, element); len(*list) > limit {
			return nil
		}
	}
	return nil
}

// readTextsByName reads an object of strings, at most limit+1 of them; empty ones are left out.
func readTextsByName(value []byte, texts *map[string]string, limit int) error {
	if isNull(value) {
		return nil
	}
	if value[0] != '{' {
		return errNotJSON
	}
	*texts = make(map[string]string)
	for quoted, element := range members(value) {
		var name, text string
		if err := readText(element, &text); err != nil {
			return err
		}
		if text == "" {
			continue
		}
		if err := readText(quoted, &name); err != nil {
			return err
		}
		if (*texts)[name] = text; len(*texts) > limit {
			return nil
		}
	}
	return nil
}
