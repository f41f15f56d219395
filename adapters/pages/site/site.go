// Package site has what all pages share: layout, assets, sessions, forms and paths.
package site

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"runtime"
	"sync"
	"time"

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

// Config has an installation's choices.
type Config struct {
	BasePath string // of the interface for programs: empty, or a path such as /api/v2
	// the address that people use, such as https://example.org/paste, without a trailing slash; empty: unknown
	PublicURL string
	SiteName  string // in titles, the header and feeds; empty: Gluepot
	Contact   string // the operator's mail address or URL; empty: not shown
	TermsURL  string // of the terms of use; empty: not shown
	Recent    bool   // list the newest public pastes of all users
	Reports   bool   // let readers report pastes to the operator
	// RenderTime is how long a page may take once its paste has been read, on a busy machine: the request's deadline is
	// that of the database. 0: 10 seconds.
	RenderTime time.Duration
	MaxBody    int // of a form, in bytes, which the form tells; 0: 2 MiB
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
	Stats      *stats.UseCases      // or nil
}

// Site is shared by all pages.
type Site struct {
	Config  Config
	Modules Modules
	Large   Queue // for pages that take long to render, and for ZIP files

	mount     string          // as that of a Request
	languages func() []string // those of the list that are not common
}

// New returns a site over the use cases.
func New(cfg Config, modules Modules) *Site {
	cfg.RenderTime = cmp.Or(cfg.RenderTime, 10*time.Second)
	cfg.SiteName = cmp.Or(cfg.SiteName, "Gluepot")
	cfg.MaxBody = cmp.Or(cfg.MaxBody, 2<<20)
	slots := max(1, runtime.GOMAXPROCS(0)/2)
	s := &Site{Config: cfg, Modules: modules, Large: Queue{make(chan struct{}, slots+maxWaiting),
		make(chan struct{}, slots)}}
	if public, err := url.Parse(cfg.PublicURL); err == nil {
		s.mount = public.Path
	}
	s.languages = sync.OnceValue(s.otherLanguages)
	return s
}

// Searches reports whether there is a search.
func (s *Site) Searches() bool { return s.Modules.Search != nil && !s.Modules.Search.Find.Off() }

// Route is a pattern of gin and its handlers. HEAD is as GET. No parameter is empty.
type Route struct {
	Pattern   string
	Get, Post Handler
	Reads     bool // its form changes nothing, so the scope read is enough
	Admins    bool // it is only for administrators: to others there is no page, whatever the method
	Everyone  bool // the answer does not depend on a session
	Begins    bool // its form begins a session, and uses none
	Tries     bool // it checks a secret other than a session's, so failures count as failed sign-ins
	Keyed     bool // its form may have a delete key: a wrong one is a failed sign-in, but not of the session
}

// Handler answers a request, or fails with an error of a kind of package fault.
type Handler func(w http.ResponseWriter, r *Request) error

// Request is one for a route.
type Request struct {
	*http.Request

	Mount    string // the path that the site is below, such as /paste; URL.Path is below that; or ""
	Viewer   token.Viewer
	Everyone bool   // the answer does not depend on a session
	Rejected bool   // its token was rejected
	Keyed    bool   // a cookie has the paste's delete key, or what is shown once
	Public   bool   // search engines may list the answer
	Policy   string // the Content-Security-Policy, if not that of most pages
}

// Actor returns the reader as the one who changes something. A client on a Unix socket has no address.
func (r *Request) Actor() audit.Actor {
	address, _ := netip.ParseAddr(r.RemoteAddr)
	return audit.By(r.Viewer, address)
}

// Queue limits expensive work to half of the processors.
type Queue struct {
	Places chan struct{} // of work that holds a paste, at a slot or waiting for one
	Slots  chan struct{}
}

// maxWaiting bounds the waiting requests that hold a paste in memory.
const maxWaiting = 8

var errManyLarge = fault.Wrap(fault.Busy, "Many large pastes are being asked for at the moment. Try again shortly.",
	errors.New("half of the processors make large pages, and more requests wait for them than may"))

// Enter waits for a slot, for a request that holds a paste; leave releases it. It fails with fault.Busy when too many
// wait, or ctx ends.
func (q Queue) Enter(ctx context.Context) (leave func(), err error) {
	select {
	case q.Places <- struct{}{}:
	default:
		return nil, errManyLarge
	}
	slot, err := q.Wait(ctx)
	if err != nil {
		<-q.Places
		return nil, err
	}
	return func() { slot(); <-q.Places }, nil
}

// Wait is Enter for a request that holds nothing yet.
func (q Queue) Wait(ctx context.Context) (leave func(), err error) {
	select {
	case q.Slots <- struct{}{}:
		return func() { <-q.Slots }, nil
	case <-ctx.Done():
		return nil, fault.Wrap(errManyLarge.Kind, errManyLarge.Message, context.Cause(ctx))
	}
}
