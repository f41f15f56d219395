package gormstore

import (
	"errors"
	"runtime"
	"strings"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/domain/fault"
)

// walk calls visit with one row of a query after the other, without holding them all, by a caller who has entered the gates.
func walk[T any](query *gorm.DB, visit func(*T) error, gates ...*gate) error {
	rows, err := query.Rows()
	if err != nil {
		return translate(err)
	}
	defer rows.Close() //nolint:errcheck // Err below says what went wrong
	return visiting(func() error {
		for rows.Next() {
			var row T
			if err := query.ScanRows(rows, &row); err != nil {
				return translate(err)
			}
			if err := visit(&row); err != nil {
				return err
			}
		}
		return translate(rows.Err())
	}, gates...)
}

// errNested is what a visitor gets who asks for what only the end of its own walk could make room for.
var errNested = fault.Unforeseen(
	errors.New("a visitor asked the store for more than can be had while it is called: collect first, and ask after the walk"))

// visiting calls somebody else's function while this goroutine holds a connection and a place behind each of the gates. Its
// frame on the stack tells enter so (see inVisit): a visitor has no context of its own that could.
//
//go:noinline
func visiting(call func() error, gates ...*gate) error {
	for _, g := range gates {
		g.visitors.Add(1)
		defer g.visitors.Add(-1)
	}
	return call()
}

// inVisit reports whether a visitor is running on this goroutine. It takes microseconds: ask before waiting only.
func inVisit() bool {
	callers := make([]uintptr, 512)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	for more := true; more; {
		var frame runtime.Frame
		if frame, more = frames.Next(); strings.HasSuffix(frame.Function, "/gormstore.visiting") {
			return true
		}
	}
	return false
}
