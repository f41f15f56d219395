package connection

import (
	"database/sql"
	"time"
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
