// Package pages serves HTML pages, over the same use cases as the interface for programs.
//
// Package httpapi has the socket, the deadlines, the limits and the log, and passes paths outside its interface to Pages
// (httpapi.Config.Pages).
package pages

import (
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/gluepot/gluepot/adapters/pages/account"
	"github.com/gluepot/gluepot/adapters/pages/admin"
	"github.com/gluepot/gluepot/adapters/pages/editor"
	"github.com/gluepot/gluepot/adapters/pages/lists"
	"github.com/gluepot/gluepot/adapters/pages/pastes"
	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/moderation"
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

	routes    []*route // in the order in which they are tried
	byPattern map[string]*route
}

// New returns the pages over the use cases. The first pattern that fits a path is its route. It fails, and names the
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
	p := &Pages{Site: s, byPattern: make(map[string]*route)}
	for _, r := range slices.Concat(
		[]site.Route{
			{Pattern: "/robots.txt", Get: robots, Everyone: true},
			{Pattern: "/~/assets/:version/:name", Get: site.Asset, Everyone: true},
		},
		account.Routes(s), admin.Routes(s), lists.Routes(s), editor.Routes(s), pastes.Routes(s),
	) {
		p.add(r)
	}
	return p, nil
}

// route is a site.Route with its pattern as a regular expression.
type route struct {
	site.Route

	path *regexp.Regexp // its groups are the parameters
}

var parameter = regexp.MustCompile(`:(\w+)`)

func (p *Pages) add(r site.Route) {
	path := parameter.ReplaceAllString(regexp.QuoteMeta(r.Pattern), "(?P<$1>[^/]+)")
	if r.Pattern != "/" {
		path += "/?"
	}
	added := &route{r, regexp.MustCompile("^" + path + "$")}
	p.routes, p.byPattern[r.Pattern] = append(p.routes, added), added
}

// resumes reports whether a request with a method uses the session of its cookie. Signing in begins a new one.
func (r *route) resumes(method string) bool {
	return !r.Everyone && !(r.Pattern == site.PathSignIn && method == http.MethodPost)
}

// Route finds the first route that fits a request's decoded path, with or without a trailing slash. It sets the request's pattern, which
// Token and Answer need, and its path values. It returns the pattern, or "" if there is no page.
func (p *Pages) Route(r *http.Request) string {
	for _, known := range p.routes {
		if values := known.path.FindStringSubmatch(r.URL.Path); values != nil {
			r.Pattern = known.Pattern
			for n, name := range known.path.SubexpNames()[1:] {
				r.SetPathValue(name, values[n+1])
			}
			return r.Pattern
		}
	}
	return ""
}

// Routes returns the header Allow of each pattern, or "" if it is for administrators alone.
func (p *Pages) Routes() map[string]string {
	all := make(map[string]string, len(p.routes))
	for _, known := range p.routes {
		switch {
		case known.Admins:
			all[known.Pattern] = ""
		case known.Post == nil:
			all[known.Pattern] = "GET, HEAD, OPTIONS"
		case known.Get == nil:
			all[known.Pattern] = "POST, OPTIONS"
		default:
			all[known.Pattern] = "GET, HEAD, POST, OPTIONS"
		}
	}
	return all
}

// Answer answers a request for one of the routes. A form needs a session with the scope write. When it fails, with an
// error of package fault, drop what it has written. It returns the user of the session, or "", and whether a secret was
// rejected: that of the session if there is no user.
func (p *Pages) Answer(w http.ResponseWriter, r *http.Request) (reader user.ID, rejected bool, err error) {
	found := p.byPattern[r.Pattern]
	if found == nil {
		return "", false, site.ErrNothing
	}
	answer := found.Get
	if r.Method == http.MethodPost {
		answer = found.Post
	}
	if answer == nil {
		return "", false, site.ErrNothing
	}
	if found.Unblocked {
		r = r.WithContext(moderation.From(r.Context(), netip.Addr{}))
	}
	asked := p.Asked(r, found.Everyone)
	if found.resumes(r.Method) {
		err = p.Resume(w, asked)
		if err == nil && found.Admins && !asked.Viewer.User.Admin {
			err = site.ErrNothing
		}
		if err == nil && r.Method == http.MethodPost && !found.Reads {
			err = asked.Viewer.MayWrite()
		}
	}
	if err == nil {
		err = answer(w, asked)
	}
	return asked.Viewer.User.ID, asked.Rejected, err
}

// AnswerError shows an error page. It reports whether the session's secret was rejected.
func (p *Pages) AnswerError(w http.ResponseWriter, r *http.Request, status int, message string) (rejected bool) {
	found := p.byPattern[r.Pattern]
	asked := p.Asked(r, found != nil && found.Everyone)
	p.ShowError(w, asked, status, message)
	return asked.Rejected
}

// Token returns the secret of a request's session, or "", and whether the request may try another secret.
func (p *Pages) Token(r *http.Request) (presented string, tries bool) {
	found := p.byPattern[r.Pattern]
	switch {
	case found == nil: // an error page shows the reader's account
		return site.CookieSecret(p.Asked(r, false)), false
	case found.Everyone:
		return "", false
	case !found.resumes(r.Method), found.Tries:
		return "", true
	}
	presented = site.CookieSecret(p.Asked(r, false))
	return presented, presented == "" && found.Keyed && r.Method == http.MethodPost
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
