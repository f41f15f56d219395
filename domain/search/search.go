// Package search is about finding pastes by their content.
package search

import (
	"context"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// Cursor is a cursor in the results. Pastes whose titles contain every word come first, then the newest; ties are
// sorted by descending id. The zero value is before the first result.
type Cursor struct {
	paste.Cursor

	InTitles bool
}

// Before reports whether p is before q in the results.
func (p Cursor) Before(q Cursor) bool {
	if p.InTitles != q.InTitles && p != (Cursor{}) && q != (Cursor{}) {
		return p.InTitles
	}
	return p.Cursor.Before(q.Cursor)
}

// Result is a search result: a paste with the current name of its owner.
type Result struct {
	paste.Summary

	Cursor Cursor
	Lines  []Line // of code, at most MaxLines
}

// MaxLines is how many lines of a paste a result shows.
const MaxLines = 3

// Line is a line that contains a word of the query.
type Line struct {
	Pasty  int    // from 0
	Number int    // from 1
	Text   string // at most maxLine characters around the first word
}

// Store keeps the search index.
type Store interface {
	// Find returns at most limit active pastes that match the query, in order, after a cursor. more reports whether others
	// follow. Readers find public pastes of public profiles, and all their own; the empty reader is a visitor. Tags match
	// only in the reader's own pastes and in those of owners who show their tags. Find never returns encrypted pastes,
	// pastes that burn, and pastes without an owner.
	Find(
		ctx context.Context, query Query, reader user.ID, after Cursor, limit int,
	) (results []Result, more bool, err error)
	// Indexed reports whether there is an index. Without one, a search scans all public pastes.
	Indexed(ctx context.Context) (bool, error)

	// Prepare creates the index if it is missing, and does not block writers. It fails with ErrNoIndex when the database
	// cannot have an index, and with fault.Conflict when another caller is creating it.
	Prepare(ctx context.Context) error
	// Rebuild indexes one batch of pastes, whose ids are greater than after. It returns the id of the last one, or "" at
	// the end, and how many pastes it read.
	Rebuild(ctx context.Context, after paste.ID) (last paste.ID, read int, err error)
}

// ErrNoIndex is the fault.Unavailable of a database that cannot be searched.
var ErrNoIndex = fault.New(fault.Unavailable, "Search is off: the database lacks the extension pg_trgm. Run CREATE "+
	"EXTENSION pg_trgm there as a superuser, then 'gluepot search rebuild'.")
