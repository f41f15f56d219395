package pages

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/token"
)

// route is a path that is served, by a pattern: of its segments, what stands after a colon is the name of a parameter, which is
// not empty. Whatever is no paste stands below /~, which no id begins with.
type route struct {
	pattern    string
	segments   []string
	parameters []string // their names, in their order
	methods    methods
	everyone   bool // it answers all alike, and no session is looked for
	unblocked  bool // it is for clients in blocked networks, too
	tries      bool // it judges a secret that is not a session's
}

// methods are what answers the methods that a path takes. HEAD is as GET.
type methods struct{ get, post handler }

// handler answers a request, or fails with an error of a kind of package fault.
type handler func(w http.ResponseWriter, r *request) error

// request is one for a route.
type request struct {
	*http.Request

	viewer   token.Viewer
	rejected bool // a token that came with it
	keyed    bool // its browser has the delete key of the paste
	public   bool // search engines may list the answer
}

func newRoute(pattern string, m methods) route {
	r := route{pattern: pattern, segments: strings.Split(pattern, "/")[1:], methods: m}
	for _, segment := range r.segments {
		if _, name, ok := strings.Cut(segment, ":"); ok {
			r.parameters = append(r.parameters, name)
		}
	}
	return r
}

// forEveryone makes a route answer all alike.
func (r route) forEveryone() route {
	r.everyone = true
	return r
}

// forBlocked makes a route one for clients in blocked networks, too: what it changes is none of what they may not do.
func (r route) forBlocked() route {
	r.unblocked = true
	return r
}

// tryingSecret makes a route count for the limit of failed sign-ins, also of those who have signed in.
func (r route) tryingSecret() route {
	r.tries = true
	return r
}

// resumes reports whether a request with a method has the session of its cookie. Signing in begins another one.
func (r *route) resumes(method string) bool {
	return !r.everyone && !(r.pattern == pathSignIn && method == http.MethodPost)
}

// allowed returns the methods as the header Allow has them.
func (m methods) allowed() string {
	allowed := ""
	if m.get != nil {
		allowed = "GET, HEAD, "
	}
	if m.post != nil {
		allowed += "POST, "
	}
	return allowed + "OPTIONS"
}

// fits reports whether a path without its first slash is that of the route, and returns the values of its parameters.
func (r *route) fits(path string) (values []string, ok bool) {
	rest := path
	for i, segment := range r.segments {
		found, tail, more := strings.Cut(rest, "/")
		if more == (i == len(r.segments)-1) {
			return nil, false
		}
		rest = tail
		before, _, parameter := strings.Cut(segment, ":")
		value, begins := strings.CutPrefix(found, before)
		if !begins || parameter == (value == "") {
			return nil, false
		}
		if parameter {
			values = append(values, value)
		}
	}
	return values, true
}

// Route finds the route of a request by its decoded path, with or without a slash at its end: the first one that fits. It sets the
// request's pattern, by which Token and Answer know the route, and its path values. It returns the pattern, or "" where there is no page.
func (p *Pages) Route(r *http.Request) string {
	path, ok := strings.CutPrefix(r.URL.Path, "/")
	if !ok {
		return ""
	}
	if shorter, ok := strings.CutSuffix(path, "/"); ok && shorter != "" {
		path = shorter
	}
	for i := range p.routes {
		route := &p.routes[i]
		values, ok := route.fits(path)
		if !ok {
			continue
		}
		r.Pattern = route.pattern
		for i, value := range values {
			r.SetPathValue(route.parameters[i], value)
		}
		return r.Pattern
	}
	return ""
}

// of returns the route of a request for which Route has found it, or nil.
func (p *Pages) of(r *http.Request) *route {
	i := slices.IndexFunc(p.routes, func(known route) bool { return known.pattern == r.Pattern })
	if i < 0 {
		return nil
	}
	return &p.routes[i]
}

// Routes returns the methods that each path takes, as the header Allow has them, by its pattern.
func (p *Pages) Routes() map[string]string {
	all := make(map[string]string, len(p.routes))
	for i := range p.routes {
		all[p.routes[i].pattern] = p.routes[i].methods.allowed()
	}
	return all
}

// Answer answers a request for one of the routes with a method that it takes. What a form asks for needs a session with the scope
// write. It fails with an error of a kind of package fault,
// and has then perhaps written something that is to be dropped. It reports whether an access token was rejected.
func (p *Pages) Answer(w http.ResponseWriter, r *http.Request) (rejected bool, err error) {
	found := p.of(r)
	if found == nil {
		return false, errNothing
	}
	answer := found.methods.get
	if r.Method == http.MethodPost {
		answer = found.methods.post
	}
	if answer == nil {
		return false, errNothing
	}
	if found.unblocked {
		r = r.WithContext(moderation.From(r.Context(), netip.Addr{}))
	}
	asked := &request{Request: r}
	if found.resumes(r.Method) {
		if err := p.resume(w, asked); err != nil {
			return false, err
		}
		if r.Method == http.MethodPost {
			if err := asked.viewer.MayWrite(); err != nil {
				return false, err
			}
		}
	}
	err = answer(w, asked)
	return asked.rejected, err
}

// Token returns the secret of the session that a request for one of the routes comes with, or "". It reports whether
// there may be an access token in the body.
func (p *Pages) Token(r *http.Request) (presented string, inBody bool) {
	found := p.of(r)
	switch {
	case found == nil || found.everyone:
		return "", false
	case !found.resumes(r.Method), found.tries:
		return "", true
	}
	return cookieSecret(r), false
}
