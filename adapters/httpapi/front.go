package httpapi

import "net/http"

// frontPolicy is for a page without scripts.
var frontPolicy = []string{"default-src 'none'; style-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"}

// newFront returns the page at "/", which says to people what this is, unless Pages have one. Monitors and previews of links see it too.
func newFront(basePath string) (*fixedAnswer, error) {
	text, err := asset("front.html", basePath)
	if err != nil {
		return nil, err
	}
	front := newFixedAnswer(htmlContentType, text)
	front.policy = frontPolicy
	return front, nil
}

// showsFront reports whether a request for which there is no route is answered with the page.
func showsFront(r *http.Request) bool {
	return r.URL.Path == "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead)
}
