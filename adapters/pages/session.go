package pages

import (
	"cmp"
	"net/http"
	"time"

	"github.com/mileusna/useragent"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// sessionCookie is the name of the cookie. Behind TLS it has the prefix with which browsers take it from this host alone, and from
// no subdomain (RFC 6265bis, 4.1.3.2).
func sessionCookie(r *http.Request) string { return cookieName(r, "gluepot-session") }

// cookieName returns the name of a cookie as it is set: see sessionCookie.
func cookieName(r *http.Request, name string) string {
	if secure(r) {
		return "__Host-" + name
	}
	return name
}

// secure reports whether the browser speaks TLS.
func secure(r *http.Request) bool { return r.URL.Scheme == "https" }

// cookieSecret returns the secret of the session that the cookie holds, or "" without one.
func cookieSecret(r *http.Request) string { return cookieValue(r, sessionCookie(r)) }

// cookieValue returns what a cookie holds, or "" without one.
func cookieValue(r *http.Request, name string) string {
	cookie, err := r.Cookie(name)
	if err != nil {
		return ""
	}
	return cookie.Value
}

// setSession has the browser keep the secret of a session, or nothing when it is empty. When a session ends is judged by the server,
// before the cookie does.
func setSession(w http.ResponseWriter, r *http.Request, secret string) {
	setCookie(w, r, sessionCookie(r), secret, token.SessionAge)
}

// setCookie has the browser keep a secret for a time, or nothing when it is empty.
func setCookie(w http.ResponseWriter, r *http.Request, name, secret string, age time.Duration) {
	cookie := http.Cookie{ //nolint:gosec // without TLS, browsers would not take one that is Secure
		Name: name, Value: secret, Path: "/", MaxAge: int(age.Seconds()), HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: secure(r),
	}
	if secret == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(w, &cookie)
}

// begin signs a user in: it always begins a new session, which ends with the access token that it was made with, if there is one.
func (p *Pages) begin(w http.ResponseWriter, r *request, owner user.ID, parent token.Token) error {
	secret, err := p.modules.Tokens.StartSession.Do(r.Context(), owner, parent, browserOf(r.UserAgent()), cookieSecret(r.Request))
	if err != nil {
		return err
	}
	setSession(w, r.Request, secret.Reveal())
	return nil
}

// browserOf says what kind of browser sends a header User-Agent, for people.
func browserOf(userAgent string) string {
	agent := useragent.Parse(userAgent)
	name := cmp.Or(agent.Name, "Unknown browser")
	if agent.OS != "" {
		name += " on " + agent.OS
	}
	if !ident.Printable(name, 64) {
		return "Unknown browser"
	}
	return name
}

// resume finds out who sends a request. A cookie whose session has ended is cleared, and the request goes on as that of a visitor
// who has not signed in. It fails with fault.Unavailable when the store does not answer.
func (p *Pages) resume(w http.ResponseWriter, r *request) error {
	secret := cookieSecret(r.Request)
	if secret == "" {
		return nil
	}
	viewer, err := p.modules.Tokens.ResumeSession.Do(r.Context(), secret)
	if fault.Is(err, fault.Unauthenticated) || fault.Is(err, fault.Forbidden) {
		r.rejected = true
		setSession(w, r.Request, "")
		return nil
	}
	r.viewer = viewer
	return err
}
