// Package ident has the rules that identifiers and short texts of every module share.
package ident

import (
	"crypto/rand"
	"errors"
	"unicode"
	"unicode/utf8"

	"github.com/gluepot/gluepot/domain/fault"
)

// MaxLength is the longest identifier, in bytes.
const MaxLength = 64

// generatedLength gives 35*36^7 (2.7e12) identifiers: PasteMyst's length and form, which existing clients expect.
// Use Draw to store one.
const generatedLength = 8

const alphabet = "0123456789abcdefghijklmnopqrstuvwxyz"

// New returns a random identifier of eight digits and lower-case letters, the first not 0.
func New() string {
	var id [generatedLength]byte
	var random [2 * generatedLength]byte
	for n := 0; n < len(id); {
		_, _ = rand.Read(random[:]) // crypto/rand never returns an error
		for _, b := range random {
			digits := alphabet
			if n == 0 {
				digits = alphabet[1:]
			}
			// Larger bytes are skipped, as the remainder would favour some digits.
			if count := byte(len(digits)); n < len(id) && b < 255/count*count {
				id[n] = digits[b%count]
				n++
			}
		}
	}
	return string(id[:])
}

// ErrTaken is the fault.Conflict of an identifier that something has already.
var ErrTaken = fault.New(fault.Conflict, "The id is taken.")

// draws is how often Draw tries. With so many identifiers even a second try is rare.
const draws = 5

// Draw calls store with a new identifier, and retries with another while ErrTaken is in the error's chain. It fails as store
// does, or with fault.Unavailable when it found no free one.
func Draw[ID ~string](store func(ID) error) error {
	var err error
	for range draws {
		if err = store(ID(New())); !errors.Is(err, ErrTaken) {
			return err
		}
	}
	return fault.Wrap(fault.Unavailable, "No free id was found. Try again.", err)
}

// Valid reports whether s is 1 to 64 letters, digits, '-' or '_'.
func Valid(s string) bool {
	if s == "" || len(s) > MaxLength {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return true
}

// Printable reports whether s is valid UTF-8 of at most limit bytes without control characters.
// The empty string is printable.
func Printable(s string, limit int) bool {
	if len(s) > limit || !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}
