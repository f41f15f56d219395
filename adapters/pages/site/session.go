package site

import (
	"net/http"
	"net/url"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
)

// SessionCookie is the name of the cookie. Behind TLS it has the prefix with which browsers take it from this host alone, and from
// no subdomain (RFC 6265bis, 4.1.3.2).
func sessionCookie(r *http.Request) string { return CookieName(r, "gluepot-session") }

// CookieName returns the name of a cookie as it is set: see sessionCookie.
func CookieName(r *http.Request, name string) string {
	if secure(r) {
		return "__Host-" + name
	}
	return name
}

// Secure reports whether the browser speaks TLS.
func secure(r *http.Request) bool { return r.URL.Scheme == "https" }

// CookieSecret returns the secret of the session that the cookie holds, or "" without one.
func CookieSecret(r *http.Request) string { return CookieValue(r, sessionCookie(r)) }

// CookieValue returns what a cookie holds, or "" without one.
func CookieValue(r *http.Request, name string) string {
	cookie, err := r.Cookie(name)
	if err != nil {
		return ""
	}
	return cookie.Value
}

// SetSession has the browser keep the secret of a session, or nothing when it is empty. When a session ends is judged by the server,
// before the cookie does.
func SetSession(w http.ResponseWriter, r *http.Request, secret string) {
	SetCookie(w, r, sessionCookie(r), secret, token.SessionAge)
}

// SetCookie has the browser keep a secret for a time, or nothing when it is empty.
func SetCookie(w http.ResponseWriter, r *http.Request, name, secret string, age time.Duration) {
	cookie := http.Cookie{ //nolint:gosec // without TLS, browsers would not take one that is Secure
		Name: name, Value: secret, Path: "/", MaxAge: int(age.Seconds()), HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: secure(r),
	}
	if secret == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(w, &cookie)
}

// Resume finds out who sends a request. A cookie whose session has ended is cleared, and the request goes on as that of a visitor
// who has not signed in. It fails with fault.Unavailable when the store does not answer.
func (s *Site) Resume(w http.ResponseWriter, r *Request) error {
	secret := CookieSecret(r.Request)
	if secret == "" {
		return nil
	}
	viewer, err := s.Modules.Tokens.ResumeSession.Do(r.Context(), secret)
	if fault.Is(err, fault.Unauthenticated) || fault.Is(err, fault.Forbidden) {
		r.Rejected = true
		SetSession(w, r.Request, "")
		return nil
	}
	r.Viewer = viewer
	return err
}

// SignInFirst asks the reader to sign in, and then to come back to the page that was asked for.
func SignInFirst(w http.ResponseWriter, r *Request) {
	SeeOther(w, PathSignIn+"?next="+url.QueryEscape(r.URL.RequestURI()))
}

// SignedIn makes a handler one for readers who have signed in; others are asked to.
func SignedIn(answer Handler) Handler {
	return func(w http.ResponseWriter, r *Request) error {
		if !r.Viewer.SignedIn() {
			SignInFirst(w, r)
			return nil
		}
		return answer(w, r)
	}
}

// Recently reports whether the reader has signed in within the last hour. Otherwise it has the reader sign in, and come back to a path.
func Recently(w http.ResponseWriter, r *Request, path string) bool {
	if r.Viewer.SignedInRecently(time.Now()) {
		return true
	}
	SeeOther(w, PathSignIn+"?next="+url.QueryEscape(path))
	return false
}
