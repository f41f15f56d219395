package catalogue

import (
	"strings"

	"github.com/gluepot/gluepot/domain/language"
)

// index maps folded keys to languages.
type index map[string]*language.Language

// maxKeyLength is longer than any name, alias or extension (a test sees to it): what is longer is not
// known, and what is not fits into a buffer on the stack.
const maxKeyLength = 64

// add enters a language under a key unless the key is taken.
func (i index) add(key string, l *language.Language) bool {
	key = fold(key)
	if _, taken := i[key]; taken {
		return false
	}
	i[key] = l
	return true
}

func (i index) find(key string) (*language.Language, bool) {
	if len(key) > maxKeyLength {
		return nil, false
	}
	var folded [maxKeyLength]byte
	for n := range len(key) {
		folded[n] = lower(key[n])
	}
	found, ok := i[string(folded[:len(key)])] // the compiler looks this up without allocating
	return found, ok
}

// fold returns the form that keys are compared in. It folds ASCII only: nothing else in the names has a case.
func fold(key string) string {
	var b strings.Builder
	for n := range len(key) {
		b.WriteByte(lower(key[n]))
	}
	return b.String()
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
