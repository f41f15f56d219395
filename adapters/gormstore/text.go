package gormstore

import (
	"strings"
	"unicode/utf8"
)

// isText reports whether PostgreSQL takes s for text. It refuses to look for any other, which no row has as its id.
func isText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }
