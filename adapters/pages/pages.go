// Package pages serves HTML pages, over the same use cases as the interface for programs.
//
// Package httpapi has the router, the deadlines, the limits and the log. It serves Pages.Routes (httpapi.Config.Pages).
package pages

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/gluepot/gluepot/adapters/internal/route"
	"github.com/gluepot/gluepot/adapters/pages/account"
	"github.com/gluepot/gluepot/adapters/pages/admin"
	"github.com/gluepot/gluepot/adapters/pages/editor"
	"github.com/gluepot/gluepot/adapters/pages/lists"
	"github.com/gluepot/gluepot/adapters/pages/pastes"
	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/user"
)

// templ, in the version of go.mod, compiles the files *.templ to Go.
//go:generate sh -c "go run github.com/a-h/templ/cmd/templ@$(go list -m -f {{.Version}} github.com/a-h/templ) fmt ."
//go:generate sh -c "go run github.com/a-h/templ/cmd/templ@$(go list -m -f {{.Version}} github.com/a-h/templ) generate"

// Config has an installation's choices.
type Config = site.Config

// Modules has the use cases that the pages call.
type Modules = site.Modules

// Pages are the pages for people.
type Pages struct {
	*site.Site

	routes []route.Page
}

// New returns the pages over the use cases of modules. It fails if modules are missing, and names them.
func New(cfg Config, modules Modules) (*Pages, error) {
	var missing []string
	for _, dependency := range []struct {
		name  string
		isNil bool
	}{
		{"Users", modules.Users == nil}, {"Tokens", modules.Tokens == nil}, {"Accounts", modules.Accounts == nil},
		{"Pastes", modules.Pastes == nil}, {"Languages", modules.Languages == nil},
	} {
		if dependency.isNil {
			missing = append(missing, "Modules."+dependency.name)
		}
	}
	if missing != nil {
		return nil, fmt.Errorf("pages.New lacks %s", strings.Join(missing, ", "))
	}
	s := site.New(cfg, modules)
	p := &Pages{Site: s}
	for _, r := range slices.Concat(
		[]site.Route{
			{Pattern: site.PathScheme, Post: site.Form(s.ChooseScheme), Everyone: true, Reads: true},
			{Pattern: "/robots.txt", Get: robots, Everyone: true},
			{Pattern: "/~/assets/:version/:name", Get: site.Asset, Everyone: true},
		},
		account.Routes(s), admin.Routes(s), lists.Routes(s), editor.Routes(s), pastes.Routes(s),
	) {
		p.routes = append(p.routes, p.page(r))
	}
	return p, nil
}

// Routes returns all pages, for the router of package httpapi.
func (p *Pages) Routes() []route.Page { return p.routes }

// page returns a route for the router of package httpapi.
func (p *Pages) page(r site.Route) route.Page {
	return route.Page{
		Path: r.Pattern, Hidden: r.Admins, Everyone: r.Everyone,
		Get:  p.handler(r, r.Get, !r.Everyone, false),
		Post: p.handler(r, r.Post, !r.Everyone && !r.Begins, !r.Reads),
		Secret: func(request *http.Request) (presented string, tries bool) {
			posts := request.Method == http.MethodPost
			switch {
			case r.Everyone:
				return "", false
			case r.Tries, r.Begins && posts:
				return "", true
			}
			presented = p.SessionSecret(request)
			return presented, presented == "" && r.Keyed && posts
		},
	}
}

// handler returns the handler of a route. If it resumes the session, it checks what the route demands of the reader. If
// it changes something, it needs the write scope.
func (p *Pages) handler(of site.Route, answer site.Handler, resumes, changes bool) route.Handler {
	if answer == nil {
		return nil
	}
	return func(w http.ResponseWriter, r *http.Request) (reader user.ID, rejected bool, err error) {
		request := p.NewRequest(r, of.Everyone)
		if resumes {
			err = p.Resume(w, request)
			if err == nil && of.Admins && request.Actor().CheckAdministrator() != nil {
				err = site.ErrNothing
			}
			if err == nil && changes {
				err = request.Viewer.MayWrite()
			}
		}
		if err == nil {
			err = answer(w, request)
		}
		return request.Viewer.User.ID, request.Rejected, err
	}
}

// AnswerError shows an error page. It reports whether the session's secret was rejected.
func (p *Pages) AnswerError(w http.ResponseWriter, r *http.Request, status int, message string) (rejected bool) {
	request := p.NewRequest(r, false)
	p.ShowError(w, request, status, message)
	return request.Rejected
}

// SessionSecret returns the secret of a request's session, or "".
func (p *Pages) SessionSecret(r *http.Request) string {
	return site.CookieSecret(p.NewRequest(r, false))
}

// robotsText keeps crawlers away from forms and downloads. It does not exclude unlisted pastes: crawlers must read a
// page to see its noindex.
const robotsText = `User-agent: *
Disallow: /sign-in
Disallow: /account
Disallow: /pastes
Disallow: /starred
Disallow: /*/edit
Disallow: /*/fork
Disallow: /*/delete
Disallow: /invite/
Disallow: /setup/
Disallow: /reset/
Disallow: /*/download/
Disallow: /*/files.zip
`

// robots answers with robots.txt (RFC 9309).
func robots(w http.ResponseWriter, _ *site.Request) error {
	w.Header().Set("Content-Type", site.TextContentType)
	w.Header().Set("Cache-Control", "public, max-age=3600")
	_, err := io.WriteString(w, robotsText)
	return err
}
