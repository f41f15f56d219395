package site

import (
	"net/http"
	"net/url"
	pathpkg "path"
	"strconv"
	"strings"
	"time"

	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/paste"
)

// Paths that several packages use.
const (
	PathSignIn  = "/sign-in"
	PathSignUp  = "/sign-up"
	PathInvite  = "/invite/"
	PathSetup   = "/setup/"
	PathReset   = "/reset/"
	PathAccount = "/account"
	PathAdmin   = "/admin"
	PathPastes  = "/pastes"
	PathStarred = "/starred"
	PathSearch  = "/search"
	PathRecent  = "/recent"
)

// maxNext bounds the path to return to.
const maxNext = 1 << 10

// LocalPath returns path if it is a path of this site with its query. It returns otherwise if the path could lead a
// browser to another host, or begin to sign in with a provider.
func LocalPath(path, otherwise string) string {
	u, err := url.Parse(path)
	if err != nil || len(path) > maxNext || !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") ||
		strings.ContainsFunc(path, func(c rune) bool { return c <= ' ' || c >= 0x7f || c == '\\' }) ||
		strings.HasPrefix(pathpkg.Clean(u.Path), PathSignIn+"/") {
		return otherwise
	}
	return path
}

// Link returns a path of this site as a browser needs it in a link, form or redirect. It returns other addresses
// unchanged.
func (s *Site) Link(path string) string { return below(s.mount, path) }

// NewRequest returns a request for this site.
func (s *Site) NewRequest(r *http.Request, everyone bool) *Request {
	return &Request{Request: r, Mount: s.mount, Everyone: everyone}
}

func below(mount, path string) string {
	if !strings.HasPrefix(path, "/") {
		return path
	}
	return mount + path
}

// PathOfPaste returns the path of a paste's page.
func PathOfPaste(id string) string { return "/" + url.PathEscape(id) }

// PathOfUser returns the path of a profile.
func PathOfUser(name string) string { return "/~" + url.PathEscape(name) }

// FormatCursor formats a cursor for a query, as in 1795282550000000.k2j4x8m1.
func FormatCursor(cursor paste.Cursor) string {
	return strconv.FormatInt(cursor.CreatedAt.UnixMicro(), 10) + "." + string(cursor.ID)
}

// ParseCursor parses the output of FormatCursor. "" is the zero cursor.
func ParseCursor(text string) (paste.Cursor, error) {
	if text == "" {
		return paste.Cursor{}, nil
	}
	at, id, _ := strings.Cut(text, ".")
	micros, err := strconv.ParseInt(at, 10, 64)
	createdAt := time.UnixMicro(micros).UTC()
	if err != nil || createdAt.Year() < 1 || createdAt.Year() > 9999 || !ident.Valid(id) { // databases hold no other years
		return paste.Cursor{}, ErrNothing
	}
	return paste.Cursor{CreatedAt: createdAt, ID: paste.ID(id)}, nil
}
