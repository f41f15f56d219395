// Package lists has the pages and feeds that list pastes.
package lists

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gluepot/gluepot/adapters/pages/marks"
	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
)

type pages struct{ *site.Site }

// Routes returns the routes of these pages.
func Routes(s *site.Site) []site.Route {
	p := &pages{s}
	routes := []site.Route{
		{Pattern: site.PathPastes, Get: p.SignedIn(p.own)},
		{Pattern: site.PathStarred, Get: p.SignedIn(p.starred)},
		{Pattern: "/~:name", Get: p.profile},
		{Pattern: "/~:name/feed.atom", Get: p.feed, Everyone: true},
	}
	if s.Config.Recent {
		routes = append(routes, site.Route{Pattern: site.PathRecent, Get: p.recent},
			site.Route{Pattern: site.PathRecent + ".atom", Get: p.recentFeed, Everyone: true})
	}
	if s.Modules.Search != nil {
		routes = append(routes, site.Route{Pattern: site.PathSearch, Get: p.search})
	}
	return routes
}

// pasteList is a page of the list at a path.
type pasteList struct {
	pastes.Page

	Path      string
	Selection paste.Selection
}

// Filtered reports whether the list leaves pastes out.
func (l *pasteList) Filtered() bool {
	return l.Selection.Tag != "" || l.Selection.Title != "" || l.Selection.After != paste.Cursor{}
}

// Next returns the path of the next page, or "".
func (l *pasteList) Next() string {
	if n := len(l.Pastes); l.More && n > 0 {
		return listPath(l.Path, l.Selection.Next(&l.Pastes[n-1]))
	}
	return ""
}

// listOrders names the orders on pages and in queries.
var listOrders = [...]string{paste.ByCreation: "created", paste.ByEdit: "edited", paste.ByTitle: "title"}

// listPath returns the path and query of a selection. A cursor in a list by title is the id and the title's key.
func listPath(path string, selection paste.Selection) string {
	query := make(url.Values)
	if selection.Tag != "" {
		query.Set("tag", selection.Tag)
	}
	if selection.Title != "" {
		query.Set("title", selection.Title)
	}
	if selection.Order != paste.ByCreation {
		query.Set("sort", listOrders[selection.Order])
	}
	switch {
	case selection.After == paste.Cursor{}:
	case selection.Order == paste.ByTitle:
		query.Set("after", string(selection.After.ID)+"."+selection.AfterTitle)
	default:
		query.Set("after", site.FormatCursor(selection.After))
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path
}

// parseSelection parses the query of listPath.
func parseSelection(query url.Values) (selection paste.Selection, err error) {
	if order := slices.Index(listOrders[:], query.Get("sort")); order >= 0 {
		selection.Order = paste.Order(order)
	}
	selection.Tag, selection.Title = query.Get("tag"), strings.TrimSpace(query.Get("title"))
	if !utf8.ValidString(selection.Tag) || !utf8.ValidString(selection.Title) {
		return paste.Selection{}, site.ErrNothing
	}
	after := query.Get("after")
	if selection.Order != paste.ByTitle || after == "" {
		selection.After, err = site.ParseCursor(after)
		return selection, err
	}
	id, title, _ := strings.Cut(after, ".")
	if !ident.Valid(id) || !utf8.ValidString(title) || strings.Contains(title, "\x00") {
		return paste.Selection{}, site.ErrNothing
	}
	selection.After.ID, selection.AfterTitle = paste.ID(id), title
	return selection, nil
}

// parseTitleAndCursor is parseSelection for lists that are sorted by creation and have no tags.
func parseTitleAndCursor(query url.Values) (paste.Selection, error) {
	return parseSelection(url.Values{"title": query["title"], "after": query["after"]})
}

func pathOf(summary *paste.Summary) string { return site.PathOfPaste(string(summary.ID)) }

func titleOf(summary *paste.Summary) string { return site.Shortened(summary.Label(), site.MaxHeading) }

// languagesOf returns the language of the first pasty, and the number of other pasties.
func languagesOf(summary *paste.Summary) string {
	text := site.Shortened(summary.Pasties[0].Language, site.MaxName)
	if more := len(summary.Pasties) - 1; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// linesOf returns the number of lines of a paste's pasties.
func linesOf(summary *paste.Summary) (lines int) {
	for _, pasty := range summary.Pasties {
		lines += pasty.Lines
	}
	return lines
}

// previewOf returns the first lines of the first pasty that is not empty, or "".
func previewOf(summary *paste.Summary) string {
	for _, pasty := range summary.Pasties {
		if preview := strings.TrimRight(pasty.Preview, " \t\r\n"); preview != "" {
			return preview
		}
	}
	return ""
}

func tagName(tag string) marks.Text { return marks.Text(site.Shortened(tag, site.MaxName)) }

func (p *pages) own(w http.ResponseWriter, r *site.Request) error {
	selection, err := parseSelection(r.URL.Query())
	if err != nil {
		return err
	}
	page, err := p.Modules.Pastes.Browse.Own(r.Context(), r.Viewer, selection)
	return site.Show(w, r, p.ownView(r.Layout("Your pastes", ""), pasteList{page, site.PathPastes, selection}, true), err)
}

func (p *pages) starred(w http.ResponseWriter, r *site.Request) error {
	selection, err := parseTitleAndCursor(r.URL.Query())
	if err != nil {
		return err
	}
	page, err := p.Modules.Pastes.Browse.Starred(r.Context(), r.Viewer, selection.Title, selection.After)
	list := pasteList{page, site.PathStarred, selection}
	return site.Show(w, r, p.ownView(r.Layout("Starred pastes", ""), list, false), err)
}

func (p *pages) profile(w http.ResponseWriter, r *site.Request) error {
	selection, err := parseSelection(r.URL.Query())
	if err != nil {
		return err
	}
	selection.Order = paste.ByCreation
	result, err := p.Modules.Pastes.Browse.Public(r.Context(), r.PathValue("name"), selection)
	if fault.Is(err, fault.NotFound) {
		owner, err := p.Modules.Users.ShowProfile.ByFormerName(r.Context(), r.PathValue("name"))
		return p.Done(w, site.PathOfUser(owner.Name.String()), err)
	}
	if err != nil {
		return err
	}
	r.Public = true
	name := result.Owner.Name.String()
	page := r.Layout(name, "Public pastes by "+name)
	page.Feed = site.PathOfUser(name) + "/feed.atom"
	list := pasteList{result.Page, site.PathOfUser(name), selection}
	return site.Show(w, r, p.profileView(page, result.Owner, list), nil)
}

func (p *pages) recent(w http.ResponseWriter, r *site.Request) error {
	selection, err := parseTitleAndCursor(r.URL.Query())
	if err != nil {
		return err
	}
	result, err := p.Modules.Pastes.Browse.Recent(r.Context(), selection.Title, selection.After)
	page := r.Layout("Recent pastes", "")
	page.Feed = site.PathRecent + ".atom"
	return site.Show(w, r, p.recentView(page, pasteList{result, site.PathRecent, selection}), err)
}
