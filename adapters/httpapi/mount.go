package httpapi

import (
	"cmp"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
)

// prefixHeader names the prefix that a proxy has removed from the path. Traefik sends it.
const prefixHeader = "X-Forwarded-Prefix"

// endpointPath is the path of one or more endpoints. gin matches a path only while it serves a request, and the path
// below the public URL's must be known before that.
type endpointPath struct {
	pattern string // of path.Match
	allowed string // the Allow header
}

// parameters matches the parameters in a path of gin. Each stands for a segment that is not empty.
var parameters = regexp.MustCompile(`:\w+`)

// mounted returns a request whose path is relative to the public URL. Proxies forward the path of the public URL or
// remove it. A path that does not begin with it stays as it is: a proxy removed it, or the request is a health check.
func (a *API) mounted(r *http.Request) *http.Request {
	rest, below := strings.CutPrefix(r.URL.Path, a.mount)
	if a.mount == "" || !below || rest != "" && rest[0] != '/' || a.cutOff(r, rest) {
		return r
	}
	clone, location := *r, *r.URL
	location.Path, location.RawPath = cmp.Or(rest, "/"), strings.TrimPrefix(location.RawPath, a.mount)
	clone.URL = &location
	return &clone
}

// cutOff reports whether a proxy has removed the public URL's path from a request whose path still begins with it. A
// proxy can say so. If it does not, the path is ambiguous only if endpoints begin with it, such as /paste. Programs
// then mean the endpoint, unless the rest of the path is an endpoint's or a page's, such as /pastes.
func (a *API) cutOff(r *http.Request, rest string) bool {
	if _, proxied := a.proxies.client(r); proxied && strings.TrimSuffix(lastOf(r.Header[prefixHeader]), "/") == a.mount {
		return true
	}
	if !a.apiSegments[firstSegment(a.mount)] || a.apiSegments[firstSegment(rest)] || a.pagePaths[rest] && rest != "/" {
		return false
	}
	form := isForm(r) || r.Header.Get("Content-Type") == "application/x-www-form-urlencoded"
	if reads(r) && prefers(r.Header["Accept"], mediaHTML, mediaText) || r.Method == http.MethodPost && form {
		return false
	}
	return slices.ContainsFunc(a.endpointPaths, func(endpoint endpointPath) bool {
		matches, _ := path.Match(endpoint.pattern, strings.TrimSuffix(r.URL.Path, "/"))
		return matches && slices.Contains(strings.Split(endpoint.allowed, ", "), r.Method)
	})
}
