package wire

import (
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Readings are the ways in which a query parameter can be meant, the likeliest first. Real clients send
// C++ as "C%2B%2B", as "C++" (in which a plus stands for a space) and as "C%252B%252B".
type Readings struct {
	values [3]string
	count  int
}

// maxParameter is how long a value may be, escapes included, to be worth reading in more than one way: the longest
// name of a language has less than a hundred characters.
const maxParameter = 1 << 10

// All returns the readings.
func (r *Readings) All() []string { return r.values[:r.count] }

func (r *Readings) add(value string) {
	if slices.Contains(r.All(), value) {
		return
	}
	r.values[r.count] = value
	r.count++
}

// Parse reads the first parameter with that key. Unlike net/url it never fails: an escape that is none
// stands for itself, and a semicolon is a character.
func (r *Readings) Parse(rawQuery, key string) {
	raw, ok := RawParameter(rawQuery, key)
	if !ok {
		return
	}
	if len(raw) > maxParameter {
		r.add(raw)
		return
	}
	r.add(Unescape(raw, true))
	if !strings.ContainsAny(raw, "+%") {
		return
	}
	literalPlus := Unescape(raw, false)
	r.add(literalPlus)
	if strings.Contains(literalPlus, "%") {
		r.add(Unescape(literalPlus, false))
	}
}

// RawParameter returns the first value of a key as it was sent, and whether there is one.
func RawParameter(rawQuery, key string) (string, bool) {
	for rawQuery != "" {
		var pair string
		pair, rawQuery, _ = strings.Cut(rawQuery, "&")
		name, value, _ := strings.Cut(pair, "=")
		if name == key || Unescape(name, true) == key {
			return value, true
		}
	}
	return "", false
}

// Unescape replaces %XX by the byte and %uXXXX, which JavaScript's escape() writes, by the UTF-16 unit.
func Unescape(s string, plusIsSpace bool) string {
	if !strings.ContainsRune(s, '%') && (!plusIsSpace || !strings.ContainsRune(s, '+')) {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		if s[i] == '+' && plusIsSpace {
			out = append(out, ' ')
			i++
			continue
		}
		if s[i] == '%' {
			if unit, ok := hexDigits(s, i+1, 2); ok {
				out = append(out, byte(unit))
				i += 3
				continue
			}
			if r, width := unicodeEscape(s[i:]); width > 0 {
				out = utf8.AppendRune(out, r)
				i += width
				continue
			}
		}
		out = append(out, s[i])
		i++
	}
	return string(out)
}

// unicodeEscape reads %uXXXX, or two of them that make a surrogate pair, at the start of s.
func unicodeEscape(s string) (r rune, width int) {
	const single = len("%uXXXX")
	high, ok := unicodeUnit(s)
	if !ok {
		return 0, 0
	}
	if utf16.IsSurrogate(high) {
		if low, ok := unicodeUnit(s[single:]); ok {
			if pair := utf16.DecodeRune(high, low); pair != utf8.RuneError {
				return pair, 2 * single
			}
		}
	}
	return high, single // a lone surrogate becomes U+FFFD when appended
}

func unicodeUnit(s string) (rune, bool) {
	if len(s) < 2 || s[0] != '%' || s[1] != 'u' && s[1] != 'U' {
		return 0, false
	}
	unit, ok := hexDigits(s, 2, 4)
	return rune(unit), ok
}

func hexDigits(s string, from, count int) (value uint16, ok bool) {
	if from+count > len(s) {
		return 0, false
	}
	for _, c := range []byte(s[from : from+count]) {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		value = value<<4 | uint16(c)
	}
	return value, true
}
