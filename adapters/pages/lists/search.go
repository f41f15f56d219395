package lists

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/gluepot/gluepot/adapters/pages/marks"
	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/search"
)

// afterTitles prefixes a place among pastes whose titles contain every word.
const afterTitles = "title."

type searchPage struct {
	site.Layout

	Text    string // of the search
	Problem string // with the search, or ""
	Results []foundPaste
	Later   bool   // not the first page
	Next    string // path of the next one, or ""
}

type foundPaste struct {
	listedPaste

	Owner string
	Own   bool // by the reader
	Lines []foundLine
}

type foundLine struct {
	Path string
	Name string // for screen readers
	Line int
	Text marks.Text
}

func (p *pages) search(w http.ResponseWriter, r *site.Request) error {
	query := r.URL.Query()
	page := searchPage{Layout: r.Layout("Search", ""), Text: query.Get("q")}
	if strings.TrimSpace(page.Text) == "" {
		return site.Show(w, r, p.searchView(page))
	}
	place, inTitles := strings.CutPrefix(query.Get("after"), afterTitles)
	after, err := site.ParsePlace(place)
	if err != nil {
		return err
	}
	found, err := p.Modules.Search.Find.Do(r.Context(), r.Viewer, page.Text, search.Place{Place: after, InTitles: inTitles})
	switch {
	case fault.Is(err, fault.Unauthenticated):
		return site.SignInFirst(w, r.URL.RequestURI())
	case fault.Is(err, fault.Invalid):
		page.Problem = fault.MessageOf(err)
		page.Text = strings.ToValidUTF8(page.Text, "\ufffd")
		return site.ShowAs(w, r, http.StatusBadRequest, p.searchView(page))
	case err != nil:
		return err
	}
	page.Later = place != ""
	for i := range found.Found {
		page.Results = append(page.Results, newFoundPaste(r, &found.Found[i]))
	}
	if n := len(found.Found); found.More && n > 0 {
		last := found.Found[n-1].Place
		next := site.FormatPlace(last.Place)
		if last.InTitles {
			next = afterTitles + next
		}
		page.Next = site.PathSearch + "?" + url.Values{"q": {page.Text}, "after": {next}}.Encode()
	}
	return site.Show(w, r, p.searchView(page))
}

func newFoundPaste(r *site.Request, found *search.Found) foundPaste {
	shown := foundPaste{listedPaste: newListedPaste(&found.Listed), Owner: found.Owner.String(), Own: found.OwnedBy(r.Viewer.User.ID)}
	for _, line := range found.Lines {
		number, anchor := strconv.Itoa(line.Number), ""
		if found.Pasties > 1 {
			anchor = strconv.Itoa(line.Pasty+1) + "-"
		}
		shown.Lines = append(shown.Lines, foundLine{
			Path: shown.Path + "#" + anchor + "L" + number, Name: "Line " + number + " of " + shown.Name,
			Line: line.Number, Text: marks.Text(line.Text),
		})
	}
	return shown
}
