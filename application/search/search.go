// Package search has the use cases that find pastes. Each fails with fault.Unavailable when the store does not answer.
package search

import (
	"context"
	"sync/atomic"

	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/language"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/search"
	"github.com/gluepot/gluepot/domain/token"
)

// UseCases is what can be asked about finding pastes.
type UseCases struct {
	Find    *Find
	Rebuild *Rebuild
}

// New returns the use cases over their ports.
func New(store search.Store, languages language.Catalogue) *UseCases {
	return &UseCases{Find: &Find{pastes: store, languages: languages}, Rebuild: &Rebuild{pastes: store}}
}

// Page is how many pastes Find returns at once.
const Page = 20

// Find finds pastes by what they hold.
type Find struct {
	pastes    search.Store
	languages language.Catalogue
	off       atomic.Bool
}

// Results are some of the pastes that were found.
type Results struct {
	Pastes []search.Result // at most Page
	More   bool            // whether there are others after the last one
	Words  []string        // what search.Parts marks
}

// ListPage is a page of results for a program.
type ListPage struct {
	Pastes []search.Result
	Next   string // the cursor of the next page, or "" on the last page
}

// List is Do for programs, with a cursor ("" for the first page) and a limit (paste.ListLimit). It fails as Do does,
// and with fault.Invalid for a wrong limit or a cursor of another search or viewer.
func (f *Find) List(ctx context.Context, viewer token.Viewer, text, cursor string, limit int) (ListPage, error) {
	limit, err := paste.ListLimit(limit)
	if err != nil {
		return ListPage{}, err
	}
	scope := []string{"search", string(viewer.User.ID), text}
	var after search.Cursor
	if cursor != "" {
		place, err := paste.DecodeCursor(cursor, scope, 3)
		if err != nil {
			return ListPage{}, err
		}
		if after.Cursor, err = paste.ParseCursor(place[0], place[1]); err != nil {
			return ListPage{}, err
		}
		after.InTitles = place[2] != ""
	}
	results, err := f.find(ctx, viewer, text, after, limit)
	if err != nil {
		return ListPage{}, err
	}
	n := 0
	for n < len(results.Pastes) && !results.Pastes[n].Cut {
		n++
	}
	page := ListPage{Pastes: results.Pastes[:n]}
	if n > 0 && (n < len(results.Pastes) || results.More) {
		last := results.Pastes[n-1].Cursor
		at, id := last.Format()
		inTitles := ""
		if last.InTitles {
			inTitles = "titles"
		}
		page.Next = paste.EncodeCursor(scope, []string{at, id, inTitles})
	}
	return page, nil
}

// Do returns a page of the pastes after a place that match the text (search.Parse) and that the viewer may find
// (search.Store.Find). It fails with fault.Invalid when the text is too short or is not a query, and with
// token.ErrRejected when it asks for the viewer's own pastes and the viewer has not signed in. While the search is
// off, it fails with search.ErrNoIndex.
func (f *Find) Do(ctx context.Context, viewer token.Viewer, text string, after search.Cursor) (Results, error) {
	return f.find(ctx, viewer, text, after, Page)
}

func (f *Find) find(
	ctx context.Context, viewer token.Viewer, text string, after search.Cursor, limit int,
) (Results, error) {
	if f.Off() {
		return Results{}, search.ErrNoIndex
	}
	query, err := search.Parse(text, f.language)
	if err != nil {
		return Results{}, err
	}
	if query.Mine && !viewer.SignedIn() {
		return Results{}, token.ErrRejected
	}
	pastes, more, err := f.pastes.Find(ctx, query, viewer.User.ID, after, limit)
	return Results{pastes, more, query.Words}, err
}

// Check turns the search off if the store has no index, and then fails with search.ErrNoIndex. It also fails if the
// store does not answer, which changes nothing.
func (f *Find) Check(ctx context.Context) error {
	indexed, err := f.pastes.Indexed(ctx)
	if err != nil {
		return err
	}
	f.off.Store(!indexed)
	if !indexed {
		return search.ErrNoIndex
	}
	return nil
}

// Off reports whether Check has turned the search off.
func (f *Find) Off() bool { return f.off.Load() }

// language returns the name of a language, or the text itself: imported pastes have languages that the catalogue does
// not know.
func (f *Find) language(text string) string {
	if match, ok := f.languages.ByName(text); ok {
		return match.Name
	}
	return text
}

// Rebuild rebuilds the search index, for example when the database had none for a time.
type Rebuild struct{ pastes search.Store }

// Do calls progress from time to time with the number of pastes read since the last call, and returns their total.
// Pastes can be written and searched meanwhile. It fails with fault.Forbidden unless the actor is the operator, and
// with search.ErrNoIndex when the database cannot have one.
func (r *Rebuild) Do(
	ctx context.Context, actor audit.Actor, progress func(n int),
) (total int, err error) {
	if err := actor.CheckOperator(); err != nil {
		return 0, err
	}
	if err := r.pastes.Prepare(ctx); err != nil {
		return 0, err
	}
	for last := paste.ID(""); ; {
		var n int
		if last, n, err = r.pastes.Rebuild(ctx, last); err != nil || last == "" {
			return total, err
		}
		total += n
		progress(n)
	}
}
