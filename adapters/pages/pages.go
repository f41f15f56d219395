// Package pages shows pastes to people who open them in a browser.
//
// Pages says what stands at which path and makes it, over the same use cases as the interface for programs, behind which it
// stands: that has the socket, the deadlines, the limits and the log, and takes the paths of Pages for those that are none of
// its own (httpapi.Config.Pages).
package pages

import (
	"hash/maphash"
	"runtime"
	"sync"
	"time"

	"github.com/gluepot/gluepot/application/languages"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/users"
)

// Config is what an installation chooses.
type Config struct {
	BasePath string // what stands before each path of the interface for programs: empty, or a path such as /api/v2
	// KeptBytes is how much highlighted code is kept in memory; the last one is kept in any case.
	KeptBytes int
	// HighlightTime is how long highlighting one code may take; what takes longer is shown as plain text.
	HighlightTime time.Duration
}

// DefaultConfig returns what suits most installations, for an interface without a base path.
func DefaultConfig() Config { return Config{KeptBytes: 32 << 20, HighlightTime: 50 * time.Millisecond} }

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
	colours *highlighter
	packing chan struct{}     // one for each archive that is made; packing takes more of the processor than all else
	seed    maphash.Seed      // of the hashes of code
	assets  map[string]*asset // by the name that stands in their path
	options func() languageOptions
}

// New returns the pages over the use cases.
func New(cfg Config, modules Modules) *Pages {
	p := &Pages{cfg: cfg, modules: modules, assets: newAssets(), seed: maphash.MakeSeed()}
	p.packing = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))
	p.colours = newHighlighter(newLexers(modules.Languages), cfg.KeptBytes, cfg.HighlightTime)
	p.options = sync.OnceValue(p.newLanguageOptions)
	p.routes = []route{
		newRoute("/", methods{get: p.front, post: p.create}),
		newRoute("/~/assets/:name", methods{get: p.asset}).forEveryone(),
		newRoute(pathSignIn, methods{get: p.showSignIn, post: p.signIn}),
		newRoute("/sign-out", methods{post: p.signOut}).forEveryone(),
		newRoute(pathPastes, methods{get: p.own}),
		newRoute("/~:name", methods{get: p.profile}),
		newRoute("/:id", methods{get: p.paste}),
		newRoute("/:id/history", methods{get: p.history}),
		newRoute("/:id/edit", methods{get: p.editing, post: p.edit}),
		newRoute("/:id/delete", methods{get: p.deletion, post: p.delete}),
		newRoute("/:id/files.zip", methods{get: p.archive}),
		newRoute("/:id/download/:pasty", methods{get: p.download}),
		newRoute("/:id/raw/:pasty", methods{get: p.raw}),
	}
	return p
}
