// Package pages serves HTML pages, over the same use cases as the interface for programs.
//
// Package httpapi has the socket, the deadlines, the limits and the log, and passes paths outside its interface to Pages
// (httpapi.Config.Pages).
package pages

import (
	"io"
	"net/http"
	"slices"

	"github.com/gluepot/gluepot/adapters/pages/account"
	"github.com/gluepot/gluepot/adapters/pages/admin"
	"github.com/gluepot/gluepot/adapters/pages/editor"
	"github.com/gluepot/gluepot/adapters/pages/lists"
	"github.com/gluepot/gluepot/adapters/pages/pastes"
	"github.com/gluepot/gluepot/adapters/pages/site"
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

	routes []route
}

// New returns the pages over the use cases. The first pattern that fits a path is its route.
func New(cfg Config, modules Modules) *Pages {
	s := site.New(cfg, modules)
	p := &Pages{Site: s}
	for _, r := range slices.Concat(
		[]site.Route{
			{Pattern: "/robots.txt", Get: robots, Everyone: true},
			{Pattern: "/~/assets/:version/:name", Get: site.Asset, Everyone: true},
		},
		account.Routes(s), admin.Routes(s), lists.Routes(s), editor.Routes(s), pastes.Routes(s),
	) {
		p.routes = append(p.routes, newRoute(r))
	}
	return p
}

// robotsText keeps crawlers away from forms and downloads. It does not exclude unlisted pastes: crawlers must read a page to see its
// noindex.
const robotsText = `User-agent: *
Disallow: /sign-in
Disallow: /account
Disallow: /pastes
Disallow: /starred
Disallow: /*/edit
Disallow: /*/fork
Disallow: /*/delete
Disallow: /invite/
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
