package gormstore

import (
	"database/sql"
	"time"
)

// instant returns t as both databases keep it: in UTC, to the microsecond.
func instant(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// nullable stores the zero time, which stands for never, as NULL.
func nullable(t time.Time) sql.NullTime {
	return sql.NullTime{Time: instant(t), Valid: !t.IsZero()}
}

func fromNullable(t sql.NullTime) time.Time {
	if !t.Valid {
		return time.Time{}
	}
	return t.Time.UTC()
}
