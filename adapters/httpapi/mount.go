package httpapi

import (
	"cmp"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
)

// prefixHeader is what a proxy has cut off the path, as Traefik says it.
const prefixHeader = "X-Forwarded-Prefix"

// servedPath is a path of endpoints. The router cannot be asked for one without being given the request.
type servedPath struct {
	pattern string // of path.Match
	allowed string // the header Allow
}

// parameters are segments of a path that match any text that is not empty.
var parameters = regexp.MustCompile(`:\w+`)

// mounted returns a request with its path below that of the public URL, which proxies pass on or cut off. Paths without
// it are taken as they are: they were cut off, or are those of health checks.
func (a *API) mounted(r *http.Request) *http.Request {
	rest, passed := strings.CutPrefix(r.URL.Path, a.mount)
	if a.mount == "" || !passed || rest != "" && rest[0] != '/' || a.cutOff(r, rest) {
		return r
	}
	copied, address := *r, *r.URL
	copied.URL, address.Path, address.RawPath = &address, cmp.Or(rest, "/"), strings.TrimPrefix(address.RawPath, a.mount)
	return &copied
}

// cutOff reports whether a path that begins with that of the public URL does so after a proxy has cut that off. A proxy
// can say so. One that does not matters only where the public URL's path is that of endpoints, such as /paste: what
// programs send is for those then, unless the rest of the path is that of an endpoint or of a page like /pastes, too.
func (a *API) cutOff(r *http.Request, rest string) bool {
	if _, proxied := a.proxies.client(r); proxied && strings.TrimSuffix(lastOf(r.Header[prefixHeader]), "/") == a.mount {
		return true
	}
	if !a.own[firstSegment(a.mount)] || a.own[firstSegment(rest)] || a.pagePaths[rest] && rest != "/" {
		return false
	}
	form := isForm(r) || r.Header.Get("Content-Type") == "application/x-www-form-urlencoded"
	if reads(r) && prefers(r.Header["Accept"], mediaHTML, mediaText) || r.Method == http.MethodPost && form {
		return false
	}
	return slices.ContainsFunc(a.paths, func(known servedPath) bool {
		fits, _ := path.Match(known.pattern, strings.TrimSuffix(r.URL.Path, "/"))
		return fits && slices.Contains(strings.Split(known.allowed, ", "), r.Method)
	})
}
