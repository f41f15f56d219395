// Package site has what all pages share: layout, assets, sessions, forms and paths.
package site

import (
	"sync"
	"time"

	"github.com/gluepot/gluepot/application/accounts"
	"github.com/gluepot/gluepot/application/languages"
	"github.com/gluepot/gluepot/application/moderation"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/search"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/application/users"
)

// Config has an installation's choices.
type Config struct {
	BasePath string // of the interface for programs: empty, or a path such as /api/v2
	// PublicURL is the address that people use, such as https://paste.example, without a trailing slash. Empty: unknown.
	PublicURL string
	// Contact is the operator's mail address or URL, and TermsURL that of the terms of use. Empty: not shown.
	Contact, TermsURL string
	// Recent lists the newest public pastes of all users.
	Recent bool
	// Reports lets readers report pastes to the operator.
	Reports bool
	// HighlightCache is the size of the cache of highlighted code, in bytes.
	HighlightCache int
	// HighlightTime is how long highlighting one code may take before it is shown as plain text.
	HighlightTime time.Duration
}

// DefaultConfig returns the defaults, for an interface without a base path.
func DefaultConfig() Config {
	return Config{HighlightCache: 32 << 20, HighlightTime: 50 * time.Millisecond}
}

// Modules have the use cases that pages call.
type Modules struct {
	Users      *users.UseCases
	Tokens     *tokens.UseCases
	Accounts   *accounts.UseCases
	Pastes     *pastes.UseCases
	Languages  *languages.UseCases
	Search     *search.UseCases     // or nil
	Moderation *moderation.UseCases // or nil
}

// Site is shared by all pages.
type Site struct {
	Config  Config
	Modules Modules
	// Large is for pages that take long to render, and Archives for ZIP files.
	Large, Archives Queue

	assets  map[string]*asset // by the name in the path
	options options
}

// New returns a site over the use cases.
func New(cfg Config, modules Modules) *Site {
	s := &Site{Config: cfg, Modules: modules, assets: newAssets(), Large: newQueue(), Archives: newQueue()}
	s.options = sync.OnceValue(s.languageOptions)
	return s
}
