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

// Modules have the use cases that pages call.
type Modules = site.Modules

// Pages makes the pages.
type Pages struct {
	*site.Site

	routes []route.Page
}

// New returns the pages over the use cases. It fails, and names the
// modules, when some are missing.
func New(cfg Config, modules Modules) (*Pages, error) {
	var missing []string
	for _, needed := range []struct {
		name  string
		isNil bool
	}{
		{"Users", modules.Users == nil}, {"Tokens", modules.Tokens == nil}, {"Accounts", modules.Accounts == nil},
		{"Pastes", modules.Pastes == nil}, {"Languages", modules.Languages == nil},
	} {
		if needed.isNil {
			missing = append(missing, "Modules."+needed.name)
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

// Routes returns all pages, which the router of package httpapi serves.
func (p *Pages) Routes() []route.Page { return p.routes }

// page returns what the router has to know of a route.
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

// handler returns the handler of a route. One that resumes the session checks what the route demands of it. One that
// changes something needs the scope write.
func (p *Pages) handler(of site.Route, answer site.Handler, resumes, changes bool) route.Handler {
	if answer == nil {
		return nil
	}
	return func(w http.ResponseWriter, r *http.Request) (reader user.ID, rejected bool, err error) {
		asked := p.Asked(r, of.Everyone)
		if resumes {
			err = p.Resume(w, asked)
			if err == nil && of.Admins && asked.Actor().MaySeeAll() != nil {
				err = site.ErrNothing
			}
			if err == nil && changes {
				err = asked.Viewer.MayWrite()
			}
		}
		if err == nil {
			err = answer(w, asked)
		}
		return asked.Viewer.User.ID, asked.Rejected, err
	}
}

// AnswerError shows an error page. It reports whether the session's secret was rejected.
func (p *Pages) AnswerError(w http.ResponseWriter, r *http.Request, status int, message string) (rejected bool) {
	asked := p.Asked(r, false)
	p.ShowError(w, asked, status, message)
	return asked.Rejected
}

// SessionSecret returns the secret of a request's session, or "".
func (p *Pages) SessionSecret(r *http.Request) string { return site.CookieSecret(p.Asked(r, false)) }

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
