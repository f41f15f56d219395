// Package route describes a page to the router of package httpapi, on which package pages registers it.
package route

import (
	"net/http"

	"github.com/gluepot/gluepot/domain/user"
)

// Page is a path for people, and what answers it.
type Page struct {
	// Path is a pattern of gin, such as /:id/history, without a slash at its end. No parameter is empty.
	Path string
	// Get answers GET and HEAD, and Post answers POST. The page does not take a method whose handler is nil.
	Get, Post Handler
	// Hidden says that methods without a handler get the answer of an unknown path.
	Hidden bool
	// Everyone says that the page ignores the session. Without Post, requests lose their cookies.
	Everyone bool
	// Secret returns the session's secret that a request presents, or "", and whether the handler tries another secret.
	Secret func(*http.Request) (presented string, tries bool)
}

// Handler answers a request whose body has arrived. URL.Scheme and Host are what the client asked for, if known, and
// RemoteAddr is its address, without a port. PathValue has the parameters of the path.
//
// It returns the user of the session, or "", and whether it rejected a secret: that of the session if there is no user,
// or else another one. After an error, everything written or set is dropped, except a cookie cleared with a rejected
// secret. The answer to a read may be made twice.
//
// A handler of a page that is too long to collect calls Flush (http.ResponseController) before it writes. Then each
// Write goes to the client, and an error ends the answer early. It calls Hold(bytes int64, waits bool) error of w
// before it keeps more in memory than 16 KiB.
type Handler func(w http.ResponseWriter, r *http.Request) (reader user.ID, rejected bool, err error)
