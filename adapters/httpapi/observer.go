package httpapi

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// RouteObserver is told of the requests of a route, by all of them at once. It must be quick, and must not panic.
type RouteObserver interface {
	Began()
	// Ended says how a request was answered, and how long after Began.
	Ended(status int, took time.Duration)
}

// otherMethod stands for those that HTTP does not define, which clients can make up at will.
const otherMethod = "other"

// knownMethods are those that HTTP defines (RFC 9110, 9.3; RFC 5789), the usual first.
var knownMethods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPatch, http.MethodDelete, http.MethodOptions,
	http.MethodPut, http.MethodConnect, http.MethodTrace,
}

// knownMethod keeps a client from writing what it likes into the log: a method is any token.
func knownMethod(method string) string {
	if slices.Contains(knownMethods, method) {
		return method
	}
	return otherMethod
}

// observers are those of each route. A nil map has none.
type observers map[observedRoute]RouteObserver

type observedRoute struct{ method, route string }

// observersOf asks for those of the routes of an API: once, so that no request has to search for its own. observe may be nil.
func observersOf(observe func(method, route string) RouteObserver, paths []servedPath) observers {
	if observe == nil {
		return nil
	}
	all := make(observers)
	for _, path := range paths {
		pattern := strings.Join(path.segments, "/")
		for method := range strings.SplitSeq(path.allowed[0], ", ") {
			watching := observe(method, pattern)
			all[observedRoute{method, pattern}], all[observedRoute{method, pattern + "/"}] = watching, watching
		}
	}
	for _, method := range append([]string{otherMethod}, knownMethods...) {
		all[observedRoute{method, ""}] = observe(method, "")
	}
	return all
}

// began tells who observes a route of a request, and returns it, or nil.
func (o observers) began(method, route string) RouteObserver {
	if o == nil {
		return nil
	}
	method = knownMethod(method)
	watching, known := o[observedRoute{method, route}]
	if !known { // a page that does not take the method
		watching = o[observedRoute{method, ""}]
	}
	if watching != nil {
		watching.Began()
	}
	return watching
}
