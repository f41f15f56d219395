package httpapi

import "net/http"

// frontPolicy is for a page without scripts.
var frontPolicy = []string{"default-src 'none'; style-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"}

var varyAcceptAndOrigin = []string{"Accept, Origin"}

// newFront returns the page at "/", which says to people what this is, unless Pages have one. It is no part of the interface:
// programs are told that there is nothing.
func newFront(basePath string) (*fixedAnswer, error) {
	text, err := asset("front.html", basePath)
	if err != nil {
		return nil, err
	}
	front := newFixedAnswer(htmlContentType, text)
	front.policy, front.vary = frontPolicy, varyAcceptAndOrigin
	return front, nil
}

// showsFront reports whether a request for which there is no route is answered with the page.
func showsFront(r *http.Request) bool {
	return r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead) && prefers(r.Header["Accept"], mediaHTML)
}
