// Package visit gives tests a site over a store in memory, whose pages they visit as a browser does.
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

// patience is long enough for the slowest machine.
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
	Secret string               // of the session that Get, Page and forms use; "" for none
	Serve  func(pastes.Options) // rebuilds the pages with these options

	router *gin.Engine
}

// New returns a site with an empty store.
func New(t testing.TB) *Site {
	t.Helper()
	store, codeLanguages := new(fake.Store), catalogue.New()
	userStore, tokenStore, pasteStore := fake.Users{Store: store}, fake.Tokens{Store: store}, fake.Pastes{Store: store}
	s := &Site{T: t, Store: store, Tokens: tokens.New(tokenStore, userStore, time.Now)}
	s.Users = users.New(userStore, fake.Identities{Store: store}, paste.Lifetimes{}, nil, time.Now)
	s.Rules = paste.Rules{
		Limits: paste.DefaultLimits(), NewID: ident.New, Diff: linediff.Unified,
		Language: func(want, _, _ string) (string, bool) { return want, true },
	}
	cfg := pages.Config{BasePath: "/api/v2", RenderTime: patience}
	s.Serve = func(options pastes.Options) {
		s.Pastes = pastes.New(pasteStore, userStore, options, time.Now)
		s.show(cfg, pages.Modules{
			Users: s.Users, Tokens: s.Tokens, Pastes: s.Pastes, Languages: languages.New(codeLanguages),
			Accounts: accounts.New(fake.Identities{Store: store}, userStore,
				accounts.Options{Passwords: fake.Passwords{}}, time.Now),
			Search: search.New(fake.Search{Store: store}, codeLanguages),
		})
	}
	s.Serve(pastes.Options{Rules: s.Rules})
	return s
}

// Configure rebuilds the pages with these settings and the same modules.
func (s *Site) Configure(cfg pages.Config) { s.show(cfg, s.Modules) }

// Account rebuilds the pages with these options of accounts.
func (s *Site) Account(options accounts.Options) {
	modules := s.Modules
	modules.Accounts = accounts.New(fake.Identities{Store: s.Store}, fake.Users{Store: s.Store}, options, time.Now)
	s.show(s.Config, modules)
}

func (s *Site) show(cfg pages.Config, modules pages.Modules) {
	s.T.Helper()
	site, err := pages.New(cfg, modules)
	if err != nil {
		s.T.Fatal(err)
	}
	s.Show(site)
}

// Show makes the site serve these pages.
func (s *Site) Show(site *pages.Pages) {
	gin.SetMode(gin.ReleaseMode)
	s.Pages, s.router = site, gin.New()
	for n, page := range s.Routes() {
		setPage := func(c *gin.Context) { c.Set(pageKey, n) }
		s.router.GET(page.Path, setPage)
		if page.Path != "/" {
			s.router.GET(page.Path+"/", setPage)
		}
	}
}

// Holds stores a paste under an id.
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

// Get requests a path.
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

// Respond answers a request with its page.
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

// Presents returns the session secret of a request, or "", and whether its page tries another one.
func (s *Site) Presents(r *http.Request) (secret string, tries bool) {
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

// Page requests a path that must exist, and returns the page.
func (s *Site) Page(path string) string {
	s.T.Helper()
	answer, err := s.Get(path)
	if err != nil {
		s.T.Fatalf("%s: got %v, want a page", path, err)
	}
	return answer.Body.String()
}

// WantIn fails the test unless a page contains all of these texts.
func WantIn(t *testing.T, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			t.Errorf("got %.4000s, want %s in it", page, text)
		}
	}
}

// WantNotIn fails the test if a page contains one of these texts.
func WantNotIn(t *testing.T, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(page, text) {
			t.Errorf("got %.4000s, want no %s in it", page, text)
		}
	}
}

// Owned returns a site with a paste of two pasties, whose owner has signed in.
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
