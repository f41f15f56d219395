// Package ident has the rules for identifiers and short texts, which all modules share.
package ident

import (
	"crypto/rand"
	"errors"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gluepot/gluepot/domain/fault"
)

// MaxLength is the longest identifier, in bytes.
const MaxLength = 64

// leastGenerated is the smallest number of eight digits in base 36. There are 35 times as many such numbers (2.7e12).
// Their length and form are PasteMyst's, which existing clients expect.
const leastGenerated = 36 * 36 * 36 * 36 * 36 * 36 * 36

// New returns a random identifier of eight digits and lower-case letters, the first not 0. Use Draw to store one.
func New() string {
	n, _ := rand.Int(rand.Reader, big.NewInt(35*leastGenerated)) // crypto/rand never returns an error
	return strconv.FormatInt(leastGenerated+n.Int64(), 36)
}

// ErrTaken is the fault.Conflict for an identifier that is in use.
var ErrTaken = fault.New(fault.Conflict, "The id is taken.")

// draws is how often Draw tries. With so many identifiers even a second try is rare.
const draws = 5

// Draw calls store with a new identifier, and tries another one while the error wraps ErrTaken. It fails as store does,
// or with fault.Unavailable when it finds no free identifier.
func Draw[ID ~string](store func(ID) error) error {
	var err error
	for range draws {
		if err = store(ID(New())); !errors.Is(err, ErrTaken) {
			return err
		}
	}
	return fault.Wrap(fault.Unavailable, "No free id was found. Try again.", err)
}

// Alphanumeric reports whether c is one of A-Z, a-z and 0-9.
func Alphanumeric(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// Valid reports whether s is 1 to 64 letters, digits, '-' or '_'.
func Valid(s string) bool {
	return s != "" && len(s) <= MaxLength && !strings.ContainsFunc(s, func(c rune) bool {
		return !Alphanumeric(c) && c != '-' && c != '_'
	})
}

// Printable reports whether s is valid UTF-8 of at most limit bytes without control characters.
// The empty string is printable.
func Printable(s string, limit int) bool {
	return len(s) <= limit && utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsPrint(r)
	})
}
