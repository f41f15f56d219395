package lists

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/gluepot/gluepot/adapters/pages/marks"
	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
)

type pasteList struct {
	Pastes []listedPaste
	Tag    marks.Text // shows only pastes with this tag; empty: all
	All    string     // path of the list without the tag
	Later  bool       // not the first page
	Next   string     // path of the next one, or ""
}

// tagLink is a link to the list with this tag.
type tagLink struct {
	Path string
	Text marks.Text
}

type listSort struct {
	Name    string
	Path    string
	Current bool
}

// listOrders have the names of orders on pages and in queries.
var listOrders = [...]struct {
	order paste.Order
	name  string
}{
	{paste.ByCreation, "created"}, {paste.ByEdit, "edited"}, {paste.ByTitle, "title"},
}

// newPasteList returns a page of the list at a path.
func newPasteList(path string, selection paste.Selection, found pastes.Page) pasteList {
	list := pasteList{
		Tag: marks.Text(site.Shortened(selection.Tag, site.MaxName)), Later: selection.After != paste.Place{},
		All: listPath(path, paste.Selection{Order: selection.Order}),
	}
	for i := range found.Pastes {
		shown := newListedPaste(&found.Pastes[i])
		for _, tag := range found.Pastes[i].Tags {
			tagged := paste.Selection{Tag: tag, Order: selection.Order}
			shown.Tags = append(shown.Tags, tagLink{listPath(path, tagged), marks.Text(site.Shortened(tag, site.MaxName))})
		}
		list.Pastes = append(list.Pastes, shown)
	}
	if n := len(found.Pastes); found.More && n > 0 {
		list.Next = listPath(path, selection.Next(&found.Pastes[n-1]))
	}
	return list
}

// sortsOf returns the ways to sort the list at a path.
func sortsOf(path string, selection paste.Selection) (sorts []listSort) {
	for _, known := range listOrders {
		sorted := listPath(path, paste.Selection{Tag: selection.Tag, Order: known.order})
		sorts = append(sorts, listSort{known.name, sorted, known.order == selection.Order})
	}
	return sorts
}

// listPath returns the path and query of a selection. A place by title is the id and the title's key.
func listPath(path string, selection paste.Selection) string {
	query := make(url.Values)
	if selection.Tag != "" {
		query.Set("tag", selection.Tag)
	}
	if selection.Order != paste.ByCreation {
		query.Set("sort", listOrders[selection.Order].name)
	}
	switch {
	case selection.After == paste.Place{}:
	case selection.Order == paste.ByTitle:
		query.Set("after", string(selection.After.ID)+"."+selection.AfterTitle)
	default:
		query.Set("after", site.FormatPlace(selection.After))
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path
}

// parseSelection parses the query of listPath.
func parseSelection(query url.Values) (selection paste.Selection, err error) {
	for _, known := range listOrders {
		if query.Get("sort") == known.name {
			selection.Order = known.order
		}
	}
	if selection.Tag = query.Get("tag"); !utf8.ValidString(selection.Tag) {
		return paste.Selection{}, site.ErrNothing
	}
	after := query.Get("after")
	if selection.Order != paste.ByTitle || after == "" {
		selection.After, err = site.ParsePlace(after)
		return selection, err
	}
	id, title, _ := strings.Cut(after, ".")
	if !ident.Valid(id) || !utf8.ValidString(title) || strings.Contains(title, "\x00") {
		return paste.Selection{}, site.ErrNothing
	}
	selection.After.ID, selection.AfterTitle = paste.ID(id), title
	return selection, nil
}

type listedPaste struct {
	Path       string
	Title      marks.Text
	Name       string // the title for screen readers
	Visibility string
	Tags       []tagLink
	Created    site.Moment
	Edited     site.Moment // zero: never
	Expires    site.Moment // zero: never
	Burns      bool        // after reading
	Encrypted  bool
}

func newListedPaste(listed *paste.Listed) listedPaste {
	title := site.Shortened(listed.Label(), site.MaxHeading)
	shown := listedPaste{
		Path: site.PathOfPaste(string(listed.ID)), Title: marks.Text(title), Name: marks.Plain(title), Visibility: listed.Visibility.String(),
		Created: site.At(listed.CreatedAt), Expires: site.At(listed.ExpiresAt),
		Burns: listed.Burns, Encrypted: listed.Encrypted,
	}
	if listed.EditedAt.After(listed.CreatedAt) {
		shown.Edited.Time = listed.EditedAt
	}
	return shown
}
