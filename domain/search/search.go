// Package search is about finding pastes by what they hold.
package search

import (
	"context"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// Place is the position of a result: pastes whose titles contain every word come first, then the newest, ties by
// descending id. The zero Place is before all of them.
type Place struct {
	paste.Place

	InTitles bool
}

// Before reports whether a paste at p stands before one at q.
func (p Place) Before(q Place) bool {
	if p.InTitles != q.InTitles && p != (Place{}) && q != (Place{}) {
		return p.InTitles
	}
	return p.Place.Before(q.Place)
}

// Found is a paste that was found, with the name that its owner has now.
type Found struct {
	paste.Listed

	Place   Place
	Pasties int    // how many it has
	Lines   []Line // of its code, at most MaxLines
}

// MaxLines is how many lines of a paste are shown.
const MaxLines = 3

// Line is a line that holds a word of the query.
type Line struct {
	Pasty  int    // from 0
	Number int    // from 1
	Text   string // at most maxLine characters around the first word
}

// Store keeps the search index.
type Store interface {
	// Find returns at most limit active pastes that match the query, in order, beginning after a place. The reader may
	// find public pastes of public profiles, and all of their own. The empty reader is a visitor who has not signed in.
	// Tags match only in the reader's own pastes and those of owners who show their tags. Encrypted pastes, those that
	// burn, and those without an owner are never found. more reports whether there are further ones.
	Find(ctx context.Context, query Query, reader user.ID, after Place, limit int) (found []Found, more bool, err error)
	// Indexed reports whether there is an index. Without one a search scans all public pastes.
	Indexed(ctx context.Context) (bool, error)

	// Prepare makes the index, unless it is there. Pastes can be written meanwhile. It fails with ErrNoIndex when the
	// database cannot have one, and with fault.Conflict when another caller is making it.
	Prepare(ctx context.Context) error
	// Rebuild processes one batch of pastes, whose ids are greater than after. It returns the id of the last one, or "" at
	// the end, and how many pastes it has read.
	Rebuild(ctx context.Context, after paste.ID) (last paste.ID, read int, err error)
}

// ErrNoIndex is the fault.Unavailable of a database that cannot be searched.
var ErrNoIndex = fault.New(fault.Unavailable, "The database lacks the extension pg_trgm, so there is no search. "+
	"Have a superuser run CREATE EXTENSION pg_trgm in it, and then run 'gluepot search rebuild'.")
