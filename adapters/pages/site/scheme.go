package site

import (
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
)

// PathScheme is the path of the form that chooses the colours of pages.
const PathScheme = "/colours"

// The colours to choose from.
const (
	SchemeSystem = "" // what the browser prefers
	SchemeLight  = "light"
	SchemeDark   = "dark"
)

const (
	schemeCookie = "gluepot-colours"
	schemeAge    = 365 * 24 * time.Hour
)

// schemes has the colours to choose from, with the labels of their buttons.
var schemes = [][2]string{{SchemeSystem, "System"}, {SchemeLight, "Light"}, {SchemeDark, "Dark"}}

// scheme returns the colours that were chosen in this browser.
func (r *Request) scheme() string {
	if r.Everyone {
		return SchemeSystem
	}
	scheme := CookieValue(r, schemeCookie)
	if scheme != SchemeLight && scheme != SchemeDark {
		return SchemeSystem
	}
	return scheme
}

// colourScheme returns the content of the meta element color-scheme.
func (l *Layout) colourScheme() string {
	if l.Scheme == SchemeSystem {
		return "light dark"
	}
	return l.Scheme
}

// darkMedia returns the media query of the dark colours.
func (l *Layout) darkMedia() string {
	switch l.Scheme {
	case SchemeDark:
		return "all"
	case SchemeLight:
		return "not all"
	}
	return "(prefers-color-scheme: dark)"
}

// ChooseScheme stores the chosen colours in a cookie, and redirects back to the page.
func (s *Site) ChooseScheme(w http.ResponseWriter, r *Request, fields url.Values) error {
	scheme := fields.Get("colours")
	if !slices.ContainsFunc(schemes, func(choice [2]string) bool { return choice[0] == scheme }) {
		return fault.New(fault.Invalid, "That is not a colour scheme. Choose system, light or dark.")
	}
	SetCookie(w, r, schemeCookie, scheme, schemeAge)
	return s.SeeOther(w, LocalPath(fields.Get("next"), "/"))
}
