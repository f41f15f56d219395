package pastes

import (
	"context"
	"strconv"
	"strings"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
)

// List lists pastes page by page, as Browse does, but with cursors that programs can pass on.
type List struct{ browse *Browse }

// ListQuery says which page of a list to return.
type ListQuery struct {
	Order      paste.Order // of one's own pastes
	Tag, Title string      // filters: see paste.Selection
	Cursor     string      // the previous page's ListPage.Next, or "" for the first page
	Limit      int         // the most pastes on the page: see paste.ListLimit
}

// ListPage is a page of a list.
type ListPage struct {
	Pastes []paste.Summary
	Next   string // the cursor of the next page, or "" on the last page
}

// Own returns a page of the viewer's pastes. It fails as Browse.Own does, and with fault.Invalid for a wrong limit or a
// cursor of another list, viewer, order or filter.
func (o *List) Own(ctx context.Context, viewer token.Viewer, query ListQuery) (ListPage, error) {
	if !viewer.SignedIn() {
		return ListPage{}, token.ErrRejected
	}
	scope := []string{"own", string(viewer.User.ID), strconv.Itoa(int(query.Order)), query.Tag, query.Title}
	selection := paste.Selection{Order: query.Order, Tag: query.Tag, Title: query.Title}
	return readList(query, scope, selection, func(selection paste.Selection, limit int) ([]paste.Summary, error) {
		return o.browse.store.Select(ctx, viewer.User.ID, selection, limit)
	})
}

// Starred returns a page of the pastes that the viewer has starred. It fails as Browse.Starred and Own do.
func (o *List) Starred(ctx context.Context, viewer token.Viewer, query ListQuery) (ListPage, error) {
	if !viewer.SignedIn() {
		return ListPage{}, token.ErrRejected
	}
	scope := []string{"starred", string(viewer.User.ID)}
	return readList(query, scope, paste.Selection{}, func(selection paste.Selection, limit int) ([]paste.Summary, error) {
		return o.browse.store.StarredBy(ctx, viewer.User.ID, "", selection.After, limit)
	})
}

// Public returns a page of the public pastes of the user with that name. It fails as Browse.Public and Own do.
func (o *List) Public(ctx context.Context, username string, query ListQuery) (ListPage, error) {
	scope := []string{"user", strings.ToLower(username), query.Tag}
	selection := paste.Selection{Tag: query.Tag}
	return readList(query, scope, selection, func(selection paste.Selection, limit int) ([]paste.Summary, error) {
		page, err := o.browse.public(ctx, username, selection, limit)
		return page.Pastes, err
	})
}

// Recent returns a page of all users' public pastes. It fails as Browse.Recent and Own do.
func (o *List) Recent(ctx context.Context, query ListQuery) (ListPage, error) {
	scope := []string{"recent"}
	return readList(query, scope, paste.Selection{}, func(selection paste.Selection, limit int) ([]paste.Summary, error) {
		return o.browse.store.Recent(ctx, "", selection.After, limit)
	})
}

// readList returns the page of a list that the query asks for.
func readList(
	query ListQuery, scope []string, selection paste.Selection,
	list func(selection paste.Selection, limit int) ([]paste.Summary, error),
) (ListPage, error) {
	limit, err := paste.ListLimit(query.Limit)
	if err != nil {
		return ListPage{}, err
	}
	if query.Cursor != "" {
		place, err := paste.DecodeCursor(query.Cursor, scope, 3)
		if err != nil {
			return ListPage{}, err
		}
		if selection.After, err = paste.ParseCursor(place[0], place[1]); err != nil {
			return ListPage{}, err
		}
		if selection.AfterTitle = place[2]; strings.Contains(place[2], "\x00") {
			return ListPage{}, paste.ErrCursor
		}
	}
	summaries, err := list(selection, limit+1) // an extra paste shows that there is another page
	if err != nil {
		return ListPage{}, err
	}
	n := 0
	for n < min(len(summaries), limit) && !summaries[n].Cut {
		n++
	}
	page := ListPage{Pastes: summaries[:n]}
	if n < len(summaries) {
		next := selection.Next(&summaries[n-1])
		at, id := next.After.Format()
		page.Next = paste.EncodeCursor(scope, []string{at, id, next.AfterTitle})
	}
	return page, nil
}
