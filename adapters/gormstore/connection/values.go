package connection

import (
	"database/sql"
	"strings"
	"time"
	"unicode/utf8"
)

// Instant returns t as both databases store it: in UTC, to the microsecond.
func Instant(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// Nullable stores the zero time, never, as NULL.
func Nullable(t time.Time) sql.NullTime {
	return sql.NullTime{Time: Instant(t), Valid: !t.IsZero()}
}

// FromNullable is the inverse of Nullable.
func FromNullable(t sql.NullTime) time.Time {
	if !t.Valid {
		return time.Time{}
	}
	return t.Time.UTC()
}

// IsText reports whether PostgreSQL accepts s as text. It refuses to compare any other string, which can be no row's id.
func IsText(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }
