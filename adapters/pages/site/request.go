package site

import (
	"net/http"

	"github.com/gluepot/gluepot/domain/token"
)

// Route is a pattern and its handlers. In a segment, a colon precedes the name of a parameter, which is never empty. HEAD is as
// GET.
type Route struct {
	Pattern   string
	Get, Post Handler
	Everyone  bool // the answer does not depend on a session
	Unblocked bool // also for clients in blocked networks
	Tries     bool // it checks a secret other than a session's, so failures count as failed sign-ins
}

// Handler answers a request, or fails with an error of a kind of package fault.
type Handler func(w http.ResponseWriter, r *Request) error

// Request is one for a route.
type Request struct {
	*http.Request

	Viewer   token.Viewer
	Rejected bool // its token was rejected
	Keyed    bool // the browser has the paste's delete key
	Public   bool // search engines may list the answer
}
