package pages

import (
	"net/http"
	"net/netip"
	"regexp"
	"slices"

	"github.com/gluepot/gluepot/adapters/pages/site"
	"github.com/gluepot/gluepot/domain/moderation"
)

// route is a site.Route with its pattern as a regular expression.
type route struct {
	site.Route

	path *regexp.Regexp // its groups are the parameters
}

var parameter = regexp.MustCompile(`:(\w+)`)

func newRoute(r site.Route) route {
	path := parameter.ReplaceAllString(regexp.QuoteMeta(r.Pattern), "(?P<$1>[^/]+)")
	if r.Pattern != "/" {
		path += "/?"
	}
	return route{r, regexp.MustCompile("^" + path + "$")}
}

// resumes reports whether a request with a method uses the session of its cookie. Signing in begins a new one.
func (r *route) resumes(method string) bool {
	return !r.Everyone && !(r.Pattern == site.PathSignIn && method == http.MethodPost)
}

// allowed returns the methods as the header Allow has them.
func (r *route) allowed() string {
	switch {
	case r.Post == nil:
		return "GET, HEAD, OPTIONS"
	case r.Get == nil:
		return "POST, OPTIONS"
	}
	return "GET, HEAD, POST, OPTIONS"
}

// Route finds the first route that fits a request's decoded path, with or without a trailing slash. It sets the request's pattern, which
// Token and Answer need, and its path values. It returns the pattern, or "" if there is no page.
func (p *Pages) Route(r *http.Request) string {
	for i := range p.routes {
		values := p.routes[i].path.FindStringSubmatch(r.URL.Path)
		if values == nil {
			continue
		}
		r.Pattern = p.routes[i].Pattern
		for n, name := range p.routes[i].path.SubexpNames()[1:] {
			r.SetPathValue(name, values[n+1])
		}
		return r.Pattern
	}
	return ""
}

// of returns the route that Route has found for a request, or nil.
func (p *Pages) of(r *http.Request) *route {
	i := slices.IndexFunc(p.routes, func(known route) bool { return known.Pattern == r.Pattern })
	if i < 0 {
		return nil
	}
	return &p.routes[i]
}

// Routes returns the header Allow of each pattern.
func (p *Pages) Routes() map[string]string {
	all := make(map[string]string, len(p.routes))
	for i := range p.routes {
		all[p.routes[i].Pattern] = p.routes[i].allowed()
	}
	return all
}

// Answer answers a request for one of the routes. A form needs a session with the scope write. When it fails, with an error of package
// fault, drop what it has written. It reports whether a token was rejected.
func (p *Pages) Answer(w http.ResponseWriter, r *http.Request) (rejected bool, err error) {
	found := p.of(r)
	if found == nil {
		return false, site.ErrNothing
	}
	answer := found.Get
	if r.Method == http.MethodPost {
		answer = found.Post
	}
	if answer == nil {
		return false, site.ErrNothing
	}
	if found.Unblocked {
		r = r.WithContext(moderation.From(r.Context(), netip.Addr{}))
	}
	asked := &site.Request{Request: r, Everyone: found.Everyone}
	if found.resumes(r.Method) {
		if err := p.Resume(w, asked); err != nil {
			return false, err
		}
		if r.Method == http.MethodPost {
			if err := asked.Viewer.MayWrite(); err != nil {
				return false, err
			}
		}
	}
	err = answer(w, asked)
	return asked.Rejected, err
}

// Token returns the secret of a request's session, or "", and whether the body may contain a token.
func (p *Pages) Token(r *http.Request) (presented string, inBody bool) {
	found := p.of(r)
	switch {
	case found == nil || found.Everyone:
		return "", false
	case !found.resumes(r.Method), found.Tries:
		return "", true
	}
	return site.CookieSecret(r), false
}
