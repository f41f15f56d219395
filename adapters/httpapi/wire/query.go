package wire

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Readings returns the possible values of the first parameter with that key, the likeliest first. Clients send C++ as
// "C%2B%2B", as "C++" (where a plus means a space) and as "C%252B%252B". Unlike net/url, it never fails: an invalid
// escape stands for itself, and a semicolon is an ordinary character.
func Readings(rawQuery, key string) []string {
	raw, ok := RawParameter(rawQuery, key)
	if !ok {
		return nil
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

var escapes = regexp.MustCompile(`\+|%[0-9A-Fa-f]{2}|%[uU][0-9A-Fa-f]{4}`)

// Unescape decodes %XX as a byte, and %uXXXX, which JavaScript's escape() writes, as a character. Any other % stands
// for itself.
func Unescape(s string, plusIsSpace bool) string {
	if !strings.ContainsAny(s, "%+") {
		return s
	}
	return escapes.ReplaceAllStringFunc(s, func(escape string) string {
		switch len(escape) {
		case len("+"):
			if plusIsSpace {
				return " "
			}
			return escape
		case len("%XX"):
			value, _ := strconv.ParseUint(escape[1:], 16, 8)
			return string([]byte{byte(value)})
		}
		value, _ := strconv.ParseUint(escape[2:], 16, 16)
		return string(rune(value)) // U+FFFD for a surrogate
	})
}
