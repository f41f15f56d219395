package lists

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gluepot/gluepot/adapters/pages/marks"
	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/search"
	"github.com/gluepot/gluepot/domain/user"
)

// titleCursor is the prefix of the cursor of a paste whose title contains every word.
const titleCursor = "title."

type searchPage struct {
	site.Layout

	Text    string // of the search
	Problem string // with the search, or ""
	Results []search.Result
	Words   []string // to highlight
	Viewer  user.ID
	Next    string // path of the next page, or ""
}

func (p *pages) search(w http.ResponseWriter, r *site.Request) error {
	if !p.Searches() {
		return paste.ErrNotFound // as for any other path of one segment
	}
	query := r.URL.Query()
	page := searchPage{Layout: r.Layout("Search", ""), Text: query.Get("q"), Viewer: r.Viewer.User.ID}
	if strings.TrimSpace(page.Text) == "" {
		return site.Show(w, r, p.searchView(page), nil)
	}
	cursor, inTitles := strings.CutPrefix(query.Get("after"), titleCursor)
	after, err := site.ParseCursor(cursor)
	if err != nil {
		return err
	}
	result, err := p.Modules.Search.Find.Do(r.Context(), r.Viewer, page.Text,
		search.Cursor{Cursor: after, InTitles: inTitles})
	switch {
	case fault.Is(err, fault.Unauthenticated):
		return p.SignInFirst(w, r.URL.RequestURI())
	case fault.Is(err, fault.Invalid):
		page.Problem = fault.MessageOf(err)
		page.Text = strings.ToValidUTF8(page.Text, "\ufffd")
		return site.ShowAs(w, r, http.StatusBadRequest, p.searchView(page))
	case err != nil:
		return err
	}
	page.Results, page.Words = result.Pastes, result.Words
	if n := len(result.Pastes); result.More && n > 0 {
		last := result.Pastes[n-1].Cursor
		next := site.FormatCursor(last.Cursor)
		if last.InTitles {
			next = titleCursor + next
		}
		page.Next = site.PathSearch + "?" + url.Values{"q": {page.Text}, "after": {next}}.Encode()
	}
	return site.Show(w, r, p.searchView(page), nil)
}

// mark splits a text into parts, and marks the words of the search.
func (p *searchPage) mark(text string) marks.Parts { return marks.Parts(search.Parts(text, p.Words)) }

// lineLink returns the address of a matching line.
func lineLink(match *search.Result, line search.Line) string {
	anchor := "#L"
	if match.PastyCount > 1 {
		anchor = "#" + strconv.Itoa(line.Pasty+1) + "-L"
	}
	return pathOf(&match.Summary) + anchor + strconv.Itoa(line.Number)
}
