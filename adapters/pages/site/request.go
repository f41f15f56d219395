package site

import (
	"net/http"

	"github.com/gluepot/gluepot/domain/token"
)

// Route is a path that is served, by a pattern: of its segments, what stands after a colon is the name of a parameter, which is
// not empty. Whatever is no paste stands below /~, which no id begins with. HEAD is as GET.
type Route struct {
	Pattern   string
	Get, Post Handler
	Everyone  bool // it answers all alike, and no session is looked for
	Unblocked bool // it is for clients in blocked networks, too: what it changes is none of what they may not do
	Tries     bool // it judges a secret that is not a session's: it counts for the limit of failed sign-ins, also of those who have signed in
}

// Handler answers a request, or fails with an error of a kind of package fault.
type Handler func(w http.ResponseWriter, r *Request) error

// Request is one for a route.
type Request struct {
	*http.Request

	Viewer   token.Viewer
	Rejected bool // a token that came with it
	Keyed    bool // its browser has the delete key of the paste
	Public   bool // search engines may list the answer
}
