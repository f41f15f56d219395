// Package pages shows pastes to people who open them in a browser.
//
// Pages says what stands at which path and makes it, over the same use cases as the interface for programs, behind which it
// stands: that has the socket, the deadlines, the limits and the log, and takes the paths of Pages for those that are none of
// its own (httpapi.Config.Pages).
package pages

import (
	"html/template"
	"sync"

	"github.com/gluepot/gluepot/application/languages"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/users"
)

// Config is what pages need to know of the interface for programs.
type Config struct {
	BasePath string // what stands before each of its paths: empty, or a path such as /api/v2
}

// Modules are those whose use cases pages call.
type Modules struct {
	Users     *users.UseCases
	Pastes    *pastes.UseCases
	Languages *languages.UseCases
}

// Pages makes the pages.
type Pages struct {
	cfg     Config
	modules Modules
	routes  []route
	assets  map[string]*asset // by the name that stands in their path
	// Parsing takes longer than most commands, and a node that is asked for no page needs none of it.
	templates func() *template.Template
}

// New returns the pages over the use cases.
func New(cfg Config, modules Modules) *Pages {
	p := &Pages{cfg: cfg, modules: modules, assets: newAssets()}
	p.templates = sync.OnceValue(p.parseTemplates)
	p.routes = []route{
		newRoute("/", methods{get: p.start}),
		newRoute("/~/assets/:name", methods{get: p.asset}),
	}
	return p
}
