package wire

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxParameter is the longest value with more than one reading. Names of languages have fewer than a hundred characters.
const maxParameter = 1 << 10

// Readings returns the possible meanings of the first parameter with that key, the likeliest first. Clients send C++ as "C%2B%2B", as
// "C++" (where a plus means a space) and as "C%252B%252B". Unlike net/url it never fails: an invalid escape stands for itself, and a
// semicolon is an ordinary character.
func Readings(rawQuery, key string) []string {
	raw, ok := RawParameter(rawQuery, key)
	if !ok {
		return nil
	}
	if len(raw) > maxParameter {
		return []string{raw}
	}
	literalPlus := Unescape(raw, false)
	return slices.Compact([]string{Unescape(raw, true), literalPlus, Unescape(literalPlus, false)})
}

// RawParameter returns the first value of a key, still escaped, and whether there is one.
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

// Unescape replaces %XX by the byte, and %uXXXX, which JavaScript's escape() writes, by the character. Any other % stands for itself.
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
			if value, ok := hexDigits(s, i+1, 2); ok {
				out = append(out, byte(value))
				i += 3
				continue
			}
			if value, ok := hexDigits(s, i+2, 4); ok && (s[i+1] == 'u' || s[i+1] == 'U') {
				out = utf8.AppendRune(out, rune(value)) // U+FFFD for a surrogate
				i += 6
				continue
			}
		}
		out = append(out, s[i])
		i++
	}
	return string(out)
}

func hexDigits(s string, from, count int) (uint64, bool) {
	if from+count > len(s) {
		return 0, false
	}
	value, err := strconv.ParseUint(s[from:from+count], 16, 16)
	return value, err == nil
}
