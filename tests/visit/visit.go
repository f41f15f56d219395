// Package visit gives tests a site over a store in memory, and has them visit its pages as a browser does.
package visit

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/adapters/catalogue"
	"github.com/gluepot/gluepot/adapters/linediff"
	"github.com/gluepot/gluepot/adapters/pages"
	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/application/accounts"
	"github.com/gluepot/gluepot/application/languages"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/search"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/tests/fake"
)

// patience is a time that no machine is too slow for.
const patience = time.Minute

// Site is pages over a store in memory.
type Site struct {
	*pages.Pages

	T      testing.TB
	Store  *fake.Store
	Rules  paste.Rules
	Users  *users.UseCases
	Pastes *pastes.UseCases
	Tokens *tokens.UseCases
	Secret string               // of the session that sends requests; empty: none
	Serve  func(pastes.Options) // from now on, with these

	router *gin.Engine
}

// New returns a site with an empty store.
func New(t testing.TB) *Site {
	t.Helper()
	store, known := new(fake.Store), catalogue.New()
	keepers, secrets, stored := fake.Users{Store: store}, fake.Tokens{Store: store}, fake.Pastes{Store: store}
	s := &Site{T: t, Store: store, Tokens: tokens.New(secrets, keepers, time.Now)}
	s.Users = users.New(keepers, fake.Identities{Store: store}, paste.Lifetimes{}, nil, time.Now)
	s.Rules = paste.Rules{
		Limits: paste.DefaultLimits(), NewID: ident.New, Diff: linediff.Unified,
		Language: func(want, _, _ string) (string, bool) { return want, true },
	}
	cfg := pages.Config{BasePath: "/api/v2", RenderTime: patience}
	s.Serve = func(options pastes.Options) {
		s.Pastes = pastes.New(stored, keepers, options, time.Now)
		s.show(cfg, pages.Modules{
			Users: s.Users, Tokens: s.Tokens, Pastes: s.Pastes, Languages: languages.New(known),
			Accounts: accounts.New(fake.Identities{Store: store}, keepers,
				accounts.Options{Passwords: fake.Passwords{}}, time.Now),
			Search: search.New(fake.Search{Store: store}, known),
		})
	}
	s.Serve(pastes.Options{Rules: s.Rules})
	return s
}

// Configure has the site serve with these settings from now on, and with the modules that it has.
func (s *Site) Configure(cfg pages.Config) { s.show(cfg, s.Modules) }

// Account has the site serve with these accounts from now on.
func (s *Site) Account(options accounts.Options) {
	modules, keepers := s.Modules, fake.Users{Store: s.Store}
	modules.Accounts = accounts.New(fake.Identities{Store: s.Store}, keepers, options, time.Now)
	s.show(s.Config, modules)
}

func (s *Site) show(cfg pages.Config, modules pages.Modules) {
	s.T.Helper()
	shown, err := pages.New(cfg, modules)
	if err != nil {
		s.T.Fatal(err)
	}
	s.Show(shown)
}

// Show has the site serve these pages from now on.
func (s *Site) Show(shown *pages.Pages) {
	gin.SetMode(gin.ReleaseMode)
	s.Pages, s.router = shown, gin.New()
	for n, page := range s.Routes() {
		found := func(c *gin.Context) { c.Set(pageKey, n) }
		s.router.GET(page.Path, found)
		if page.Path != "/" {
			s.router.GET(page.Path+"/", found)
		}
	}
}

// Holds stores a paste with an id.
func (s *Site) Holds(id string, document paste.Document) {
	s.T.Helper()
	document.ID = paste.ID(id)
	if document.CreatedAt.IsZero() {
		document.CreatedAt = time.Date(2026, 11, 21, 22, 45, 0, 0, time.UTC)
	}
	if err := (fake.Pastes{Store: s.Store}).CreateDocument(s.T.Context(), document); err != nil {
		s.T.Fatal(err)
	}
}

// Content returns a paste with these pasties.
func Content(pasties ...paste.Pasty) paste.Document {
	for i := range pasties {
		if pasties[i].ID == "" {
			pasties[i].ID = fmt.Sprintf("pasty%03d", i)
		}
	}
	return paste.Document{Content: paste.Content{Title: "A title", Pasties: pasties}}
}

// Get asks for a path.
func (s *Site) Get(path string) (*httptest.ResponseRecorder, error) {
	s.T.Helper()
	return s.Answers(httptest.NewRequestWithContext(s.T.Context(), http.MethodGet, path, nil))
}

// Answers sends a request.
func (s *Site) Answers(r *http.Request) (*httptest.ResponseRecorder, error) {
	if s.Secret != "" {
		r.AddCookie(SessionOf(s.Secret))
	}
	answer := httptest.NewRecorder()
	_, err := s.Respond(answer, r)
	return answer, err
}

// Respond finds the page of a request, and has it answer.
func (s *Site) Respond(w http.ResponseWriter, r *http.Request) (rejected bool, err error) {
	n := s.find(r)
	if n < 0 {
		return false, site.ErrNothing
	}
	answer := s.Routes()[n].Get
	if r.Method == http.MethodPost {
		answer = s.Routes()[n].Post
	}
	if answer == nil {
		return false, site.ErrNothing
	}
	_, rejected, err = answer(w, r)
	return rejected, err
}

// Presents returns the secret of a session that a request presents, or "", and whether its page tries another one.
func (s *Site) Presents(r *http.Request) (presented string, tries bool) {
	n := s.find(r)
	if n < 0 {
		return s.SessionSecret(r), false
	}
	return s.Routes()[n].Secret(r)
}

// Pattern returns the pattern of the page at a path, or "".
func (s *Site) Pattern(path string) string {
	if n := s.find(&http.Request{URL: &url.URL{Path: path}}); n >= 0 {
		return s.Routes()[n].Path
	}
	return ""
}

// find returns the number of a request's page in Routes, or -1, and sets the values of its path.
func (s *Site) find(r *http.Request) int {
	c := gin.CreateTestContextOnly(httptest.NewRecorder(), s.router)
	c.Request = &http.Request{Method: http.MethodGet, URL: r.URL}
	s.router.HandleContext(c)
	for _, parameter := range c.Params {
		r.SetPathValue(parameter.Key, parameter.Value)
	}
	if n, ok := c.Value(pageKey).(int); ok {
		return n
	}
	return -1
}

const pageKey = "page"

// Page asks for a path at which there is something.
func (s *Site) Page(path string) string {
	s.T.Helper()
	answer, err := s.Get(path)
	if err != nil {
		s.T.Fatalf("%s: got %v, want a page", path, err)
	}
	return answer.Body.String()
}

// WantIn fails the test unless all of them are in a page.
func WantIn(t *testing.T, page string, expected ...string) {
	t.Helper()
	for _, want := range expected {
		if !strings.Contains(page, want) {
			t.Errorf("got %.4000s, want %s in it", page, want)
		}
	}
}

// WantNotIn fails the test when one of them is in a page.
func WantNotIn(t *testing.T, page string, unwanted ...string) {
	t.Helper()
	for _, text := range unwanted {
		if strings.Contains(page, text) {
			t.Errorf("got %.4000s, want no %s in it", page, text)
		}
	}
}

// Owned is a site with a paste of two snippets, whose owner has signed in.
func Owned(t testing.TB, change func(*paste.Document)) *Site {
	t.Helper()
	s := New(t)
	document := Content(
		paste.Pasty{Title: "main.go", Language: "Go", Code: "package main\n"},
		paste.Pasty{Title: "b.c", Language: "C", Code: "\nint x;"},
	)
	document.Owner, document.Tags = s.User("Epoxy", true), []string{"a", "b"}
	if change != nil {
		change(&document)
	}
	s.Holds("k2j4x8m1", document)
	_, s.Secret = s.Session("epoxy")
	return s
}
