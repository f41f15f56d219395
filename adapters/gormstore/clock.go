package gormstore

import (
	"database/sql/driver"
	"time"
)

// clock is an argument of a statement on SQLite: the time at which database/sql, having got a connection,
// asks for the argument's value, and runs the statement.
type clock func() time.Time

// Value implements driver.Valuer.
func (c clock) Value() (driver.Value, error) { return instant(c()), nil }

// timed returns the arguments of a statement that judges pastes by time (see queries).
func (s *Store) timed(args ...any) []any {
	if s.sqlitePath == "" {
		return args
	}
	return append(args, s.clock)
}

// ago is an argument for the instant that was so long before a statement is run.
func (s *Store) ago(duration time.Duration) any {
	if s.sqlitePath == "" {
		return duration
	}
	return clock(func() time.Time { return s.clock().Add(-duration) })
}
