package model

import (
	"database/sql/driver"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Text is a text column. It may contain U+0000, which PostgreSQL's type text cannot hold. Both databases store it the
// same way, so that rows stay readable, searchable and the same after a copy.
type Text string

// escape is U+001A (SUBSTITUTE), which is rare in text. Followed by 0 it means U+0000, and by 1 itself.
const escape = "\x1a"

var (
	encoder = strings.NewReplacer("\x00", escape+"0", escape, escape+"1")
	decoder = strings.NewReplacer(escape+"0", "\x00", escape+"1", escape)
)

// Value implements driver.Valuer.
func (t Text) Value() (driver.Value, error) { return encoder.Replace(string(t)), nil }

// Scan implements sql.Scanner.
func (t *Text) Scan(value any) error {
	switch value := value.(type) {
	case string:
		*t = Text(value)
	case []byte:
		*t = Text(value)
	default:
		return fmt.Errorf("%T is not a text", value)
	}
	if strings.Contains(string(*t), escape) {
		*t = Text(decoder.Replace(string(*t)))
	}
	return nil
}

// IsText reports whether PostgreSQL accepts s as text. Any other string cannot be a row's id, and PostgreSQL refuses to
// compare it. In a statement for several keys, one such string would make all of them fail.
func IsText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }
