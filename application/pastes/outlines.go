package pastes

import (
	"context"
	"strconv"
	"strings"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
)

// Outlines lists pastes for programs, page by page: Browse with cursors.
type Outlines struct{ browse *Browse }

// OutlineQuery is what a program asks for.
type OutlineQuery struct {
	Order      paste.Order // of one's own pastes
	Tag, Title string      // filters: see paste.Selection
	Cursor     string      // where the page begins, from Outline.Next; empty: at the beginning
	Limit      int         // at most this many: see paste.ListLimit
}

// Outline is a page of a list.
type Outline struct {
	Pastes []paste.Summary
	Next   string // the cursor of the next page; empty: this is the last
}

// Own returns a page of the viewer's pastes: see Browse.Own. It fails as that does, and with a fault.Invalid for a
// wrong limit or a cursor of another list, viewer, order or filter.
func (o *Outlines) Own(ctx context.Context, viewer token.Viewer, query OutlineQuery) (Outline, error) {
	if !viewer.SignedIn() {
		return Outline{}, token.ErrRejected
	}
	scope := []string{"own", string(viewer.User.ID), strconv.Itoa(int(query.Order)), query.Tag, query.Title}
	selection := paste.Selection{Order: query.Order, Tag: query.Tag, Title: query.Title}
	return outline(query, scope, selection, func(selection paste.Selection, limit int) ([]paste.Summary, error) {
		return o.browse.store.Select(ctx, viewer.User.ID, selection, limit)
	})
}

// Starred returns a page of the pastes that the viewer stars: see Browse.Starred. It fails as that and Own do.
func (o *Outlines) Starred(ctx context.Context, viewer token.Viewer, query OutlineQuery) (Outline, error) {
	if !viewer.SignedIn() {
		return Outline{}, token.ErrRejected
	}
	scope := []string{"starred", string(viewer.User.ID)}
	return outline(query, scope, paste.Selection{}, func(selection paste.Selection, limit int) ([]paste.Summary, error) {
		return o.browse.store.StarredBy(ctx, viewer.User.ID, "", selection.After, limit)
	})
}

// Public returns a page of the public pastes of the user with that name: see Browse.Public. It fails as that and Own
// do.
func (o *Outlines) Public(ctx context.Context, username string, query OutlineQuery) (Outline, error) {
	scope := []string{"user", strings.ToLower(username), query.Tag}
	selection := paste.Selection{Tag: query.Tag}
	return outline(query, scope, selection, func(selection paste.Selection, limit int) ([]paste.Summary, error) {
		page, err := o.browse.public(ctx, username, selection, limit)
		return page.Pastes, err
	})
}

// Recent returns a page of the public pastes of all users: see Browse.Recent. It fails as that and Own do.
func (o *Outlines) Recent(ctx context.Context, query OutlineQuery) (Outline, error) {
	scope := []string{"recent"}
	return outline(query, scope, paste.Selection{}, func(selection paste.Selection, limit int) ([]paste.Summary, error) {
		return o.browse.store.Recent(ctx, "", selection.After, limit)
	})
}

// outline reads a page of a list.
func outline(
	query OutlineQuery, scope []string, selection paste.Selection,
	list func(selection paste.Selection, limit int) ([]paste.Summary, error),
) (Outline, error) {
	limit, err := paste.ListLimit(query.Limit)
	if err != nil {
		return Outline{}, err
	}
	if query.Cursor != "" {
		place, err := paste.DecodeCursor(query.Cursor, scope, 3)
		if err != nil {
			return Outline{}, err
		}
		if selection.After, err = paste.ParseCursor(place[0], place[1]); err != nil {
			return Outline{}, err
		}
		if selection.AfterTitle = place[2]; strings.Contains(place[2], "\x00") {
			return Outline{}, paste.ErrCursor
		}
	}
	summaries, err := list(selection, limit+1) // one more tells whether more follow
	if err != nil {
		return Outline{}, err
	}
	n := 0
	for n < min(len(summaries), limit) && !summaries[n].Cut {
		n++
	}
	page := Outline{Pastes: summaries[:n]}
	if n < len(summaries) {
		next := selection.Next(&summaries[n-1])
		at, id := next.After.Format()
		page.Next = paste.EncodeCursor(scope, []string{at, id, next.AfterTitle})
	}
	return page, nil
}
