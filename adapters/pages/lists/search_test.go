package lists_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/application/search"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/fake"
	"github.com/gluepot/gluepot/tests/visit"
)

func TestSearch(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	epoxy := s.User("Epoxy", true)
	_, secret := s.Session("epoxy")
	for i := range 45 {
		document := visit.Content(paste.Pasty{Code: "first\n<needle> \x00\n"}, paste.Pasty{Code: "x\nNEEDLE"})
		document.Owner, document.Visibility, document.Title = epoxy, paste.Public, fmt.Sprintf("<title %d>", i)
		if i%2 == 0 {
			document.Title += " needle"
		}
		document.CreatedAt = time.UnixMicro(int64(i/2) - 10).UTC()
		s.Holds(fmt.Sprintf("paste%03d", i), document)
	}
	hidden := visit.Content(paste.Pasty{Code: "a needle of one's own"})
	hidden.Owner, hidden.Title, hidden.Visibility = epoxy, "hidden", paste.Private
	s.Holds("hidden00", hidden)

	form := s.Page("/search")
	visit.WantIn(t, form, `<form class="form" method="get" action="/search" role="search">`, `<label for="q">`,
		`name="q" value=""`)
	visit.WantNotIn(t, form, "<h2>", `role="alert"`)
	visit.WantIn(t, s.Page("/search?q=absent"), "No pastes match.", `value="absent"`)

	order, count := []string{}, 0
	for path := "/search?q=" + url.QueryEscape(`"needle>" first`); path != ""; count++ {
		page := s.Page(path)
		visit.WantIn(t, page, `value="&#34;needle&gt;&#34; first"`, `by <a href="/~Epoxy">Epoxy</a>`,
			`#1-L2" aria-label="Line 2 of &lt;title`, "&lt;<mark>needle&gt;</mark>", "4 lines")
		visit.WantNotIn(t, page, "hidden00", "<title 1")
		for _, rest := range strings.Split(page, `<li><a href="/`)[1:] {
			id, _, _ := strings.Cut(rest, `"`)
			order = append(order, id)
		}
		path = hrefBefore(page, "Show more results</a>")
	}
	if want := 45; len(order) != want || count != 3 || order[0] != "paste044" || order[1] != "paste043" {
		t.Errorf("got %d pastes on %d pages: %q, want %d on 3, the newest first", len(order), count, order, want)
	}
	titles := s.Page("/search?q=needle")
	visit.WantIn(t, titles, `href="/search?after=title.`)

	answer, _, err := s.As(secret, "/search?q=own+mine:")
	if err != nil || answer.Code != http.StatusOK {
		t.Fatalf("got %v, %d, want a page", err, answer.Code)
	}
	visit.WantIn(t, answer.Body.String(), `href="/hidden00"`, "<span>private</span>")
	if answer.Header().Get("Cache-Control") != "private, no-store" {
		t.Errorf("got %v, want private, no-store", answer.Header())
	}
	answer, err = s.Get("/search?q=own+mine:")
	if err != nil || answer.Code != http.StatusSeeOther || !strings.HasPrefix(answer.Header().Get("Location"),
		"/sign-in?next=") {
		t.Errorf("got %v, %d %v, want a redirect to sign in", err, answer.Code, answer.Header())
	}
	for query, want := range map[string]string{
		"ab": "at least 3 characters", "a+b+c": "at least 3 characters", "user:%00": "a username after user:",
		"%ff%ff%ff":              "must be valid UTF-8",
		strings.Repeat("a", 501): "at most 500 characters", strings.Repeat("abc+", 17): "16 words",
	} {
		answer, err := s.Get("/search?q=" + query)
		if err != nil || answer.Code != http.StatusBadRequest {
			t.Fatalf("%q: got %v, %d, want a page with status 400", query, err, answer.Code)
		}
		visit.WantIn(t, answer.Body.String(), `role="alert">`, want, `aria-describedby="problem hint"`)
	}
	for _, after := range []string{"x", "title.x", "1", "1.%00"} {
		if _, err := s.Get("/search?q=needle&after=" + after); !fault.Is(err, fault.NotFound) {
			t.Errorf("%q: got %v, want fault.NotFound", after, err)
		}
	}
	off := visit.New(t)
	off.Modules.Search = nil
	off.Configure(off.Config)
	if off.Pattern(site.PathSearch) == site.PathSearch || s.Pattern(site.PathSearch) != site.PathSearch {
		t.Error("got a page without a search, or none with one, want it only with one")
	}
}

// noIndex is a store without an index.
type noIndex struct{ fake.Search }

func (noIndex) Indexed(context.Context) (bool, error) { return false, nil }

// TestSearchIsOff checks that the search is hidden once the database turns out to have no index.
func TestSearchIsOff(t *testing.T) {
	t.Parallel()
	s := visit.New(t)
	s.Modules.Search = search.New(noIndex{fake.Search{Store: s.Store}}, nil)
	s.Configure(s.Config)
	const link = `<a href="/search">`
	visit.WantIn(t, s.Page("/"), link)
	if err := s.Modules.Search.Find.Check(t.Context()); err == nil {
		t.Fatal("got an index, want none")
	}
	visit.WantNotIn(t, s.Page("/"), link)
	if _, err := s.Get("/search?q=needle"); !errors.Is(err, paste.ErrNotFound) {
		t.Errorf("got %v, want %v as for any other id", err, paste.ErrNotFound)
	}
}

// hrefBefore returns the link that ends with that text, or "".
func hrefBefore(page, text string) string {
	before, _, ok := strings.Cut(page, text)
	if !ok {
		return ""
	}
	_, href, _ := strings.Cut(before[strings.LastIndex(before, "<a "):], `href="`)
	href, _, _ = strings.Cut(href, `"`)
	return strings.ReplaceAll(href, "&amp;", "&")
}
