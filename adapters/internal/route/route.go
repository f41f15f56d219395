// Package route describes the pages of package pages to the router of package httpapi.
package route

import (
	"math"
	"net/http"

	"github.com/gluepot/gluepot/domain/user"
)

// Page is a path for people, and its handlers.
type Page struct {
	// Path is a pattern of gin, such as /:id/history, without a trailing slash. Requests with an empty parameter get 404.
	Path string
	// Get answers GET and HEAD, Post answers POST. A method whose handler is nil is not allowed.
	Get, Post Handler
	// Hidden makes methods without a handler answer 404 instead of 405.
	Hidden bool
	// Everyone means that the page ignores the session. If there is no Post, requests lose their cookies.
	Everyone bool
	// Encoded means that Post decodes the body: it may have a Content-Encoding.
	Encoded bool
	// MaxBody bounds the body of Post in bytes, as it is sent. 0: what pastes may have.
	MaxBody int
	// Secret returns the session's secret that a request presents, or "", and whether the handler tries a second secret.
	Secret func(*http.Request) (presented string, tries bool)
}

// Handler answers a request whose body has arrived. URL.Scheme and Host are those that the client used, if known, and
// RemoteAddr is its address, without a port. PathValue returns the parameters of the path.
//
// It returns the user of the session, or "", and whether it rejected a secret: the session's if there is no user, or
// else the second one. After an error, everything written or set is dropped, except cookies that clear a rejected
// secret. The handler of a read may be called twice for one request.
//
// If the page is too long to buffer, the handler calls Flush (http.ResponseController) before it writes. Then each
// Write goes to the client, and an error cuts the answer off. It calls w's Hold(bytes int64, waits bool) error before
// it keeps more than 16 KiB in memory.
type Handler func(w http.ResponseWriter, r *http.Request) (reader user.ID, rejected bool, err error)

// Hold claims memory for what the source of an answer keeps: a Handler does so before it keeps more than 16 KiB.
// Answers of tests have no budget.
func Hold(w http.ResponseWriter, bytes int64, waits bool) error {
	if answer, ok := w.(interface {
		Hold(bytes int64, waits bool) error
	}); ok {
		return answer.Hold(bytes, waits)
	}
	return nil
}

// Share returns how much memory the source of an answer may take: see Hold.
func Share(w http.ResponseWriter) int64 {
	if answer, ok := w.(interface{ Share() int64 }); ok {
		return answer.Share()
	}
	return math.MaxInt64
}
