// Package storedtext keeps U+0000 in text columns, which PostgreSQL's type text cannot hold. Both databases store it the same way,
// so that rows stay readable, searchable and the same after a copy.
package storedtext

import (
	"database/sql/driver"
	"fmt"
	"strings"
	"unicode/utf8"
)

// escape is U+001A (SUBSTITUTE), which is rare in text. Followed by 0 it means U+0000, and by 1 itself.
const escape = "\x1a"

var (
	encoder = strings.NewReplacer("\x00", escape+"0", escape, escape+"1")
	decoder = strings.NewReplacer(escape+"0", "\x00", escape+"1", escape)
)

// Text is a text column.
type Text string

// Encode returns the text as it is stored.
func Encode(text string) string { return encoder.Replace(text) }

// Decode is the inverse of Encode.
func Decode(stored string) string {
	if !strings.Contains(stored, escape) {
		return stored
	}
	return decoder.Replace(stored)
}

// IsText reports whether PostgreSQL accepts s as text. It refuses to compare any other string, which can be no row's id. In a statement
// for several keys, one such string would fail all of them.
func IsText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// Value implements driver.Valuer.
func (t Text) Value() (driver.Value, error) { return Encode(string(t)), nil }

// Scan implements sql.Scanner.
func (t *Text) Scan(value any) error {
	switch value := value.(type) {
	case string:
		*t = Text(Decode(value))
	case []byte:
		*t = Text(Decode(string(value)))
	default:
		return fmt.Errorf("%T is not a text", value)
	}
	return nil
}
