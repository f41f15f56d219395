package gormstore

import (
	"database/sql/driver"
	"slices"
	"time"
)

// clock is an argument of a statement on SQLite: the time at which an attempt to run it begins, when it has
// a connection and waits no longer for a lock.
//
// Why it is there: what is active depends on the rows and on the time, and both must be of one moment. A time that was
// read before the statement waited would answer with a count that was never true (decision 0015). PostgreSQL has
// clock_timestamp() for it; SQLite's own functions count milliseconds only.
type clock func() time.Time

// atThisMoment returns the arguments with the time for each clock.
func atThisMoment(args []driver.NamedValue) []driver.NamedValue {
	for i := range args {
		if c, ok := args[i].Value.(clock); ok {
			args = slices.Clone(args)
			args[i].Value = instant(c())
		}
	}
	return args
}

// timed returns the arguments of a statement that judges pastes by time (see queries).
func (s *Store) timed(args ...any) []any {
	if s.file == nil {
		return args
	}
	return append(args, s.clock)
}

// ago is an argument for the instant that was so long before a statement is run.
func (s *Store) ago(duration time.Duration) any {
	if s.file == nil {
		return duration
	}
	return clock(func() time.Time { return s.clock().Add(-duration) })
}
