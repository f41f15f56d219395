package site

import (
	"context"
	"net/http"
	"strings"

	"github.com/gluepot/gluepot/domain/fault"
)

// ErrNothing is the error for unknown paths, and for pages that the reader may not know of.
var ErrNothing = fault.New(fault.NotFound, "There is nothing at this path.")

// ShowError shows an error page, with the reader's account in its header. 404 has one text for all reasons.
func (s *Site) ShowError(w http.ResponseWriter, r *Request, status int, message string) {
	header, signedIn := w.Header(), s.recognise(w, r, status)
	Guard(w, r)
	if header["Cache-Control"] == nil {
		header["Cache-Control"] = []string{"no-store"}
	}
	page, signIn := r.Layout(http.StatusText(status), ""), status == http.StatusUnauthorized
	page.SignedIn, page.Here = signedIn, ""
	switch status {
	case http.StatusNotFound:
		page.Title = "There is nothing here"
		message = "It may be private, may have expired or been deleted, or may never have existed."
	case http.StatusGone:
		page.Title = "This paste was removed"
	case http.StatusRequestEntityTooLarge:
		page.Title = "Too long"
		message = "Go back, and send less. " + message
	case http.StatusBadRequest, http.StatusForbidden, http.StatusConflict:
		if signingIn(r.URL.Path) {
			page.Title, signIn = "This did not work", true
		}
	case http.StatusUnauthorized:
		page.Title = "You are not signed in"
		message = "Your session has ended, or you have not signed in yet. Sign in, and try again."
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if reads && !signingIn(r.URL.Path) { // a form or a used secret cannot be opened again
		page.Here = LocalPath(r.URL.RequestURI(), "")
	}
	w.WriteHeader(status)
	_ = Write(context.WithoutCancel(r.Context()), w, s.errorView(page, message, signIn)) // nothing is left to answer with
}

// recognise sets the viewer of a failed request, and reports whether there is a session. If the store is overloaded or
// away, it does not ask it, and takes the cookie for a session.
func (s *Site) recognise(w http.ResponseWriter, r *Request, status int) (signedIn bool) {
	switch {
	case r.Everyone, status == http.StatusUnauthorized, w.Header()["Set-Cookie"] != nil: // it clears the cookie
		return false
	case status == http.StatusTooManyRequests, status >= http.StatusInternalServerError, s.Resume(w, r) != nil:
		return CookieSecret(r) != ""
	}
	return r.Viewer.SignedIn()
}

// signingIn reports whether a path is a step of signing in or up, other than the sign-in form.
func signingIn(path string) bool {
	for _, prefix := range []string{PathSignIn + "/", PathInvite, PathSetup, PathReset} {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return path == PathSignUp
}
