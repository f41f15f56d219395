package site

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
)

// sessionCookie is the name of the cookie. Behind TLS it has the prefix with which browsers take it from this host alone, and from
// no subdomain (RFC 6265bis, 4.1.3.2).
func sessionCookie(r *http.Request) string { return CookieName(r, "gluepot-session") }

// CookieName returns the name of a cookie as it is set: see sessionCookie.
func CookieName(r *http.Request, name string) string {
	if secure(r) {
		return "__Host-" + name
	}
	return name
}

// secure reports whether the browser speaks TLS.
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
	keep(w, r, "/", name, secret, http.SameSiteLaxMode, age)
}

func keep(w http.ResponseWriter, r *http.Request, path, name, value string, across http.SameSite, age time.Duration) {
	cookie := http.Cookie{ //nolint:gosec // without TLS, browsers would not take one that is Secure
		Name: name, Value: value, Path: path, MaxAge: int(age.Seconds()), HttpOnly: true, SameSite: across, Secure: secure(r),
	}
	if value == "" {
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

// SignInFirst asks the reader to sign in, and then to come back to a path.
func SignInFirst(w http.ResponseWriter, path string) error {
	return SeeOther(w, PathSignIn+"?next="+url.QueryEscape(path))
}

// SignedIn makes a handler one for readers who have signed in; others are asked to.
func SignedIn(answer Handler) Handler {
	return func(w http.ResponseWriter, r *Request) error {
		if !r.Viewer.SignedIn() {
			return SignInFirst(w, r.URL.RequestURI())
		}
		return answer(w, r)
	}
}

// Recent reports whether the reader has signed in within the last hour.
func (r *Request) Recent() bool { return r.Viewer.SignedInRecently(time.Now()) }

// Recently makes a handler one for readers who have signed in within the last hour; others are asked to, and come back to a path.
func Recently(path string, answer Handler) Handler {
	return func(w http.ResponseWriter, r *Request) error {
		if !r.Recent() {
			return SignInFirst(w, path)
		}
		return answer(w, r)
	}
}

// UnseenKey stands before a key that was not shown yet, in the cookie of a paste's pages in which a browser keeps the delete key of a
// paste that was created in it.
const UnseenKey = "new."

const keyAge = 365 * 24 * time.Hour

func keyCookie(r *http.Request) string {
	if secure(r) {
		return "__Secure-gluepot-delete-key"
	}
	return "gluepot-delete-key"
}

// DeleteKey returns the key that the browser has for the paste, or "", and whether it was not shown yet.
func (r *Request) DeleteKey() (key paste.DeleteKey, unseen bool) {
	cookie, err := r.Cookie(keyCookie(r.Request))
	if err != nil || cookie.Value == "" {
		return "", false
	}
	r.Keyed = true
	text, unseen := strings.CutPrefix(cookie.Value, UnseenKey)
	return paste.DeleteKey(text), unseen
}

// SetDeleteKey has the browser keep the key of a paste, or none when it is empty.
func SetDeleteKey(w http.ResponseWriter, r *http.Request, id, key string) {
	keep(w, r, PathOfPaste(id), keyCookie(r), key, http.SameSiteStrictMode, keyAge)
}
