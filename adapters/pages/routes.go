package pages

import (
	"net/http"
	"strings"
)

// route is a path that is served, by a pattern: of its segments, what stands after a colon is the name of a parameter, which is
// not empty. Whatever is no paste stands below /~, which no id begins with.
type route struct {
	pattern  string
	segments []string
	methods  methods
	everyone bool // it answers all alike, and no session is looked for
}

// methods are what answers the methods that a path takes. HEAD is as GET.
type methods struct{ get, post handler }

// handler answers a request, or fails with an error of a kind of package fault.
type handler func(w http.ResponseWriter, r *request) error

// request is one for a route.
type request struct {
	*http.Request

	parameters []string // those of the pattern, in its order
	session    session
	rejected   bool // a token that came with it
}

func newRoute(pattern string, m methods) route {
	return route{pattern: pattern, segments: strings.Split(pattern, "/")[1:], methods: m}
}

// forEveryone makes a route answer all alike.
func (r route) forEveryone() route {
	r.everyone = true
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

// fits reports whether a path is that of the route, and returns its parameters.
func (r *route) fits(path string) (parameters []string, ok bool) {
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
			parameters = append(parameters, value)
		}
	}
	return parameters, true
}

// find returns the route of a path, with or without a slash at its end, and its parameters, or nil. The first one that fits wins.
func (p *Pages) find(path string) (*route, []string) {
	path, ok := strings.CutPrefix(path, "/")
	if !ok {
		return nil, nil
	}
	if shorter, ok := strings.CutSuffix(path, "/"); ok && shorter != "" {
		path = shorter
	}
	for i := range p.routes {
		if parameters, ok := p.routes[i].fits(path); ok {
			return &p.routes[i], parameters
		}
	}
	return nil, nil
}

// Routes returns the methods that each path takes, as the header Allow has them, by its pattern.
func (p *Pages) Routes() map[string]string {
	all := make(map[string]string, len(p.routes))
	for i := range p.routes {
		all[p.routes[i].pattern] = p.routes[i].methods.allowed()
	}
	return all
}

// Route returns the pattern that a decoded path fits, or "".
func (p *Pages) Route(path string) string {
	found, _ := p.find(path)
	if found == nil {
		return ""
	}
	return found.pattern
}

// Answer answers a request for one of the routes with a method that it takes. It fails with an error of a kind of package fault,
// and has then perhaps written something that is to be dropped. It reports whether an access token was rejected.
func (p *Pages) Answer(w http.ResponseWriter, r *http.Request) (rejected bool, err error) {
	found, parameters := p.find(r.URL.Path)
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
	asked := &request{Request: r, parameters: parameters}
	if found.resumes(r.Method) {
		if err := p.resume(w, asked); err != nil {
			return false, err
		}
	}
	err = answer(w, asked)
	return asked.rejected, err
}

// Token returns the access token that a request for one of the routes comes with, or "". It reports whether there may be one in
// the body.
func (p *Pages) Token(r *http.Request) (presented string, inBody bool) {
	found, _ := p.find(r.URL.Path)
	switch {
	case found == nil || found.everyone:
		return "", false
	case !found.resumes(r.Method):
		return "", true
	}
	return cookieSecret(r), false
}
