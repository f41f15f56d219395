package site

import (
	"net/http"
	"strings"
	"time"

	"github.com/gluepot/gluepot/domain/paste"
)

// A browser keeps the delete key of a paste that was created in it in a cookie for that paste's pages, in which this stands before a
// key that was not shown yet.
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
	cookie := http.Cookie{ //nolint:gosec // without TLS, browsers would not take one that is Secure
		Name: keyCookie(r), Value: key, Path: PathOfPaste(id), MaxAge: int(keyAge.Seconds()), HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: secure(r),
	}
	if key == "" {
		cookie.MaxAge = -1
	}
	http.SetCookie(w, &cookie)
}
