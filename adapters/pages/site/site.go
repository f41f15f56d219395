// Package site is what all pages share: what is around them and what they load, who asks for them, the forms that are sent, and where
// each of them is.
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

// Config is what an installation chooses.
type Config struct {
	BasePath string // prefix of the interface for programs: empty, or a path such as /api/v2
	// PublicURL is the address that people use, such as https://paste.example, without a slash at its end. Empty: it is not known.
	PublicURL string
	// Contact is an address of mail or a URL at which people reach the operator, and TermsURL where the terms of use are. Empty: not said.
	Contact, TermsURL string
	// Recent lists the newest public pastes of all users.
	Recent bool
	// Reports lets readers report pastes to the operator.
	Reports bool
	// KeptBytes is how much of what highlighting has found is cached in memory.
	KeptBytes int
	// HighlightTime is how long highlighting one code may take; what takes longer is shown as plain text.
	HighlightTime time.Duration
}

// DefaultConfig returns what suits most installations, for an interface without a base path.
func DefaultConfig() Config { return Config{KeptBytes: 32 << 20, HighlightTime: 50 * time.Millisecond} }

// Modules are those whose use cases pages call.
type Modules struct {
	Users      *users.UseCases
	Tokens     *tokens.UseCases
	Accounts   *accounts.UseCases
	Pastes     *pastes.UseCases
	Languages  *languages.UseCases
	Search     *search.UseCases     // or nil
	Moderation *moderation.UseCases // or nil
}

// Site is what all pages are made over.
type Site struct {
	Config  Config
	Modules Modules
	// Large are pages that take long to render, and Archives files that take long to pack.
	Large, Archives Queue

	assets  map[string]*asset // by the name in their path
	options options
}

// New returns a site over the use cases.
func New(cfg Config, modules Modules) *Site {
	s := &Site{Config: cfg, Modules: modules, assets: newAssets(), Large: newQueue(), Archives: newQueue()}
	s.options = sync.OnceValue(s.languageOptions)
	return s
}
