package site

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
)

const sessionCookie = "gluepot-session"

// hostOnly begins the names of cookies that browsers do not accept from subdomains (RFC 6265bis, 4.1.3.2).
const hostOnly = "__Host-"

// secureOnly begins the names of cookies that browsers accept only over TLS (RFC 6265bis, 4.1.3.1).
const secureOnly = "__Secure-"

// cookieName returns the name of a cookie, which has a prefix only over TLS. Browsers accept hostOnly only for the path
// /.
func (r *Request) cookieName(prefix, name string) string {
	switch {
	case r.URL.Scheme != "https":
		return name
	case prefix == hostOnly && r.Mount != "":
		return secureOnly + name
	}
	return prefix + name
}

// CookieSecret returns the session's secret from the cookie, or "".
func CookieSecret(r *Request) string { return CookieValue(r, sessionCookie) }

// CookieValue returns the value of a cookie, or "".
func CookieValue(r *Request, name string) string {
	cookie, err := r.Cookie(r.cookieName(hostOnly, name))
	if err != nil {
		return ""
	}
	return cookie.Value
}

// nonceLength is the number of characters of crypto/rand.Text.
const nonceLength = 26

// CSRFToken returns the value that proves that a form is from a page of the request's session, or "" without a session.
// It is a nonce and its HMAC under the session's secret, so that nodes share no key and compression reveals nothing.
func CSRFToken(r *Request) string {
	secret := CookieSecret(r)
	if secret == "" {
		return ""
	}
	nonce := rand.Text()
	return nonce + csrfSum(secret, nonce)
}

func csrfSum(secret, nonce string) string {
	sum := hmac.New(sha256.New, []byte(secret))
	_, _ = sum.Write([]byte("form " + nonce)) // never fails
	return base64.RawURLEncoding.EncodeToString(sum.Sum(nil))
}

// fromOwnPage reports whether a value is a CSRFToken of the request's session.
func (r *Request) fromOwnPage(value string) bool {
	secret := CookieSecret(r)
	return secret != "" && len(value) > nonceLength &&
		hmac.Equal([]byte(value[nonceLength:]), []byte(csrfSum(secret, value[:nonceLength])))
}

// SetSession sets the session's cookie, or clears it if secret is empty. Sessions end on the server before the cookie
// does.
func SetSession(w http.ResponseWriter, r *Request, secret string) {
	SetCookie(w, r, sessionCookie, secret, token.SessionAge)
}

// SetCookie sets a cookie, or clears it if secret is empty.
func SetCookie(w http.ResponseWriter, r *Request, name, secret string, age time.Duration) {
	setCookie(w, r, "", r.cookieName(hostOnly, name), secret, http.SameSiteLaxMode, age)
}

func setCookie(w http.ResponseWriter, r *Request, path, name, value string, across http.SameSite, age time.Duration) {
	cookie := http.Cookie{ //nolint:gosec // without TLS, browsers refuse Secure cookies
		Name: name, Value: value, Path: cmp.Or(r.Mount+path, "/"), MaxAge: int(age.Seconds()), HttpOnly: true,
		SameSite: across, Secure: r.URL.Scheme == "https",
	}
	if value == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(w, &cookie)
}

// Resume sets the viewer of a request from its cookie. If the session has ended, it clears the cookie, and the viewer
// is a visitor. It fails with fault.Unavailable if the store does not answer.
func (s *Site) Resume(w http.ResponseWriter, r *Request) error {
	secret := CookieSecret(r)
	if secret == "" {
		return nil
	}
	viewer, err := s.Modules.Tokens.SignIn.Resume(r.Context(), secret)
	if fault.Is(err, fault.Unauthenticated) || fault.Is(err, fault.Forbidden) {
		r.Rejected = true
		SetSession(w, r, "")
		return nil
	}
	r.Viewer = viewer
	return err
}

// SignInFirst redirects to the sign-in page, which returns to path.
func (s *Site) SignInFirst(w http.ResponseWriter, path string) error {
	return s.SeeOther(w, PathSignIn+"?next="+url.QueryEscape(path))
}

// SignedIn restricts a handler to signed-in readers. It redirects others to the sign-in page.
func (s *Site) SignedIn(answer Handler) Handler {
	return func(w http.ResponseWriter, r *Request) error {
		if !r.Viewer.SignedIn() {
			return s.SignInFirst(w, r.URL.RequestURI())
		}
		return answer(w, r)
	}
}

// Recent reports whether the reader has signed in within the last hour.
func (r *Request) Recent() bool { return r.Viewer.SignedInRecently(time.Now()) }

// Recently restricts a handler to readers who have signed in within the last hour. It redirects others to the sign-in
// page, which returns to path.
func (s *Site) Recently(path string, answer Handler) Handler {
	return func(w http.ResponseWriter, r *Request) error {
		if !r.Recent() {
			return s.SignInFirst(w, path)
		}
		return answer(w, r)
	}
}

// UnseenKey begins the cookie with a delete key that no page has shown yet.
const UnseenKey = "new."

const keyAge = 365 * 24 * time.Hour

func (r *Request) keyCookie() string { return r.cookieName(secureOnly, "gluepot-delete-key") }

// DeleteKey returns the browser's delete key for the paste, or "", and whether a page must still show it.
func (r *Request) DeleteKey() (key paste.DeleteKey, unseen bool) {
	cookie, err := r.Cookie(r.keyCookie())
	if err != nil || cookie.Value == "" {
		return "", false
	}
	r.Keyed = true
	text, unseen := strings.CutPrefix(cookie.Value, UnseenKey)
	return paste.DeleteKey(text), unseen
}

// SetDeleteKey sets the cookie with a paste's delete key, or clears it if key is empty.
func SetDeleteKey(w http.ResponseWriter, r *Request, id, key string) {
	setCookie(w, r, PathOfPaste(id), r.keyCookie(), key, http.SameSiteStrictMode, keyAge)
}

const onceAge = 10 * time.Minute

func (r *Request) onceCookie() string { return r.cookieName(secureOnly, "gluepot-once") }

// ShowOnce passes a value of a form to the page at path, to which the form redirects.
func ShowOnce(w http.ResponseWriter, r *Request, path, value string) {
	setCookie(w, r, path, r.onceCookie(), value, http.SameSiteStrictMode, onceAge)
}

// Once returns the value of ShowOnce, or "".
func (r *Request) Once() string {
	cookie, err := r.Cookie(r.onceCookie())
	if err != nil || cookie.Value == "" {
		return ""
	}
	r.Keyed = true
	return cookie.Value
}

// ForgetOnce clears the value of Once, so that a reload of the page at path does not show it again.
func (r *Request) ForgetOnce(w http.ResponseWriter, path string) {
	setCookie(w, r, path, r.onceCookie(), "", http.SameSiteStrictMode, 0)
}
