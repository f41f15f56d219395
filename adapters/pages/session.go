package pages

import (
	"encoding/base64"
	"net/http"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

// session is what the cookie of a request says of who sends it. The zero value is that of somebody who has not signed in.
//
// The cookie holds the access token and nothing else is kept of a session: whatever ends the token ends the session with the next
// request, on every node (decision 0057).
type session struct {
	secret string  // an access token that has just been found valid, or ""
	user   user.ID // its owner
	name   string  // of its owner
}

// sessionAge is how long a browser keeps the cookie.
const sessionAge = 30 * 24 * time.Hour

// sessionCookie is the name of the cookie. Behind TLS it has the prefix with which browsers take it from this host alone, and from
// nobody between (RFC 6265bis, 4.1.3.2).
func sessionCookie(r *http.Request) string {
	if secure(r) {
		return "__Host-gluepot-session"
	}
	return "gluepot-session"
}

// secure reports whether the browser speaks TLS.
func secure(r *http.Request) bool { return r.URL.Scheme == "https" }

// longestCookie is more than any that is set.
var longestCookie = base64.RawURLEncoding.EncodedLen(token.MaxSecretLength)

// cookieSecret returns the access token that the cookie holds, or "" without one. A cookie that was made up holds one that is not
// valid.
func cookieSecret(r *http.Request) string {
	cookie, err := r.Cookie(sessionCookie(r))
	if err != nil || cookie.Value == "" {
		return ""
	}
	if len(cookie.Value) <= longestCookie {
		if secret, err := base64.RawURLEncoding.DecodeString(cookie.Value); err == nil {
			return string(secret)
		}
	}
	return "\x00"
}

// setSession has the browser keep an access token, or nothing when it is empty. Tokens of an import may have characters that
// cookies may not.
func setSession(w http.ResponseWriter, r *http.Request, secret string) {
	cookie := http.Cookie{ //nolint:gosec // without TLS, browsers would not take one that is Secure
		Name: sessionCookie(r), Value: base64.RawURLEncoding.EncodeToString([]byte(secret)), Path: "/",
		MaxAge: int(sessionAge.Seconds()), HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: secure(r),
	}
	if secret == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(w, &cookie)
}

// resume finds out who sends a request. A cookie whose token is rejected is cleared, and the request goes on as that of somebody
// who has not signed in. It fails with fault.Unavailable when the store does not answer.
func (p *Pages) resume(w http.ResponseWriter, r *request) error {
	secret := cookieSecret(r.Request)
	if secret == "" {
		return nil
	}
	account, err := p.modules.Users.ShowSelf.Do(r.Context(), secret)
	switch {
	case fault.Is(err, fault.Unauthenticated):
		r.rejected = true
		setSession(w, r.Request, "")
	case err != nil:
		return err
	default:
		r.session = session{secret: secret, user: account.ID, name: account.Name.String()}
	}
	return nil
}
