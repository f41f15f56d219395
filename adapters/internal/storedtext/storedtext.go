// Package storedtext keeps U+0000 in text columns, which PostgreSQL's type text cannot hold. Both databases store it the same way,
// so that rows stay readable, searchable and the same after a copy.
package storedtext

import (
	"database/sql/driver"
	"fmt"
	"strings"
)

// escape introduces what stands for U+0000 and for itself: U+001A (SUBSTITUTE), which text hardly ever holds.
const escape = "\x1a"

var (
	encoder = strings.NewReplacer("\x00", escape+"0", escape, escape+"1")
	decoder = strings.NewReplacer(escape+"0", "\x00", escape+"1", escape)
)

// Text is a text column.
type Text string

// Encode returns the text as it is stored.
func Encode(text string) string {
	if !strings.ContainsAny(text, "\x00"+escape) {
		return text
	}
	return encoder.Replace(text)
}

// Decode returns the text that is stored as that.
func Decode(stored string) string {
	if !strings.Contains(stored, escape) {
		return stored
	}
	return decoder.Replace(stored)
}

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
