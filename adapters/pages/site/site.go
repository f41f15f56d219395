// Package site has what all pages share: layout, assets, sessions, forms and paths.
package site

import (
	"cmp"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"github.com/gluepot/gluepot/adapters/internal/queue"
	"github.com/gluepot/gluepot/application/accounts"
	"github.com/gluepot/gluepot/application/languages"
	"github.com/gluepot/gluepot/application/moderation"
	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/application/search"
	"github.com/gluepot/gluepot/application/stats"
	"github.com/gluepot/gluepot/application/tokens"
	"github.com/gluepot/gluepot/application/users"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
)

// Config has the settings of an installation.
type Config struct {
	BasePath  string // of the API: empty, or a path such as /api/v2
	PublicURL string // such as https://example.org/paste, without a trailing slash; empty: unknown
	SiteName  string // in titles, the header and feeds; empty: Gluepot
	Contact   string // the operator's mail address or URL; empty: not shown
	TermsURL  string // of the terms of use; empty: not shown
	Recent    bool   // list the newest public pastes of all users
	Reports   bool   // let readers report pastes to the operator
	// RenderTime bounds rendering a page once its paste is read. The request's deadline is for the database. 0: 10
	// seconds.
	RenderTime time.Duration
	MaxBody    int // of a form, in bytes; 0: 2 MiB
}

// Modules has the use cases that the pages call.
type Modules struct {
	Users      *users.UseCases
	Tokens     *tokens.UseCases
	Accounts   *accounts.UseCases
	Pastes     *pastes.UseCases
	Languages  *languages.UseCases
	Search     *search.UseCases     // or nil
	Moderation *moderation.UseCases // or nil
	Stats      *stats.UseCases      // or nil
}

// Site is shared by all pages.
type Site struct {
	Config  Config
	Modules Modules
	Large   queue.Queue // for pages that take long to render, and for ZIP files

	mount     string          // see Request.Mount
	languages func() []string // all except the common ones
}

// New returns a site over the use cases.
func New(cfg Config, modules Modules) *Site {
	cfg.RenderTime = cmp.Or(cfg.RenderTime, 10*time.Second)
	cfg.SiteName = cmp.Or(cfg.SiteName, "Gluepot")
	cfg.MaxBody = cmp.Or(cfg.MaxBody, 2<<20)
	s := &Site{Config: cfg, Modules: modules, Large: queue.New(maxWaiting, errManyLarge)}
	if public, err := url.Parse(cfg.PublicURL); err == nil {
		s.mount = public.Path
	}
	s.languages = sync.OnceValue(s.otherLanguages)
	return s
}

// Searches reports whether the site has a search.
func (s *Site) Searches() bool { return s.Modules.Search != nil && !s.Modules.Search.Find.Off() }

// Route is a pattern of gin and its handlers. Get also answers HEAD. No parameter is empty.
type Route struct {
	Pattern   string
	Get, Post Handler
	Reads     bool // its form changes nothing, so the read scope suffices
	Admins    bool // only for administrators: others get 404, whatever the method
	Everyone  bool // the answer does not depend on a session
	Begins    bool // its form begins a session, and ignores the current one
	Tries     bool // it checks a secret other than the session's, so failures count as failed sign-ins
	Keyed     bool // its form may have a delete key: a wrong one is a failed sign-in, but does not end the session
}

// Handler answers a request, or fails with a fault.Error.
type Handler func(w http.ResponseWriter, r *Request) error

// Request is a request for a route.
type Request struct {
	*http.Request

	Mount    string // the path of the site, such as /paste, to which URL.Path is relative; or ""
	Viewer   token.Viewer
	Everyone bool   // the answer does not depend on a session
	Rejected bool   // the session's secret was rejected, or the second one
	Keyed    bool   // a cookie has the paste's delete key, or a value to show once
	Public   bool   // search engines may list the answer
	Policy   string // the Content-Security-Policy; empty: ContentPolicy
}

// Actor returns the reader, as use cases that change something take it. A client on a Unix socket has no address.
func (r *Request) Actor() audit.Actor {
	address, _ := netip.ParseAddr(r.RemoteAddr)
	return audit.By(r.Viewer, address)
}

// maxWaiting bounds the requests that hold a paste in memory while they wait.
const maxWaiting = 8

var errManyLarge = fault.Wrap(fault.Busy, "Many large pastes are being requested at the moment. Try again shortly.",
	errors.New("every slot for making large pages was taken, and too many requests wait for one"))
