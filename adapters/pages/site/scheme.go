package site

import (
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/gluepot/gluepot/domain/fault"
)

// PathScheme takes the form that chooses the colours of pages.
const PathScheme = "/colours"

// Schemes are the colours to choose from.
const (
	SchemeSystem = "" // what the browser prefers
	SchemeLight  = "light"
	SchemeDark   = "dark"
)

const (
	schemeCookie = "gluepot-colours"
	schemeAge    = 365 * 24 * time.Hour
)

// schemes are the colours to choose from, with the labels of their buttons.
var schemes = [][2]string{{SchemeSystem, "System"}, {SchemeLight, "Light"}, {SchemeDark, "Dark"}}

// scheme returns the colours that the browser has chosen.
func (r *Request) scheme() string {
	if r.Everyone {
		return SchemeSystem
	}
	chosen := CookieValue(r, schemeCookie)
	if chosen != SchemeLight && chosen != SchemeDark {
		return SchemeSystem
	}
	return chosen
}

// colourScheme returns the schemes that a page is made for, as the meta element of that name has them.
func (l *Layout) colourScheme() string {
	if l.Scheme == SchemeSystem {
		return "light dark"
	}
	return l.Scheme
}

// darkMedia returns for which screens the dark colours are.
func (l *Layout) darkMedia() string {
	switch l.Scheme {
	case SchemeDark:
		return "all"
	case SchemeLight:
		return "not all"
	}
	return "(prefers-color-scheme: dark)"
}

// ChooseScheme remembers the colours that a browser wants, and leads back to the page.
func (s *Site) ChooseScheme(w http.ResponseWriter, r *Request, fields url.Values) error {
	chosen := fields.Get("colours")
	if !slices.ContainsFunc(schemes, func(known [2]string) bool { return known[0] == chosen }) {
		return fault.New(fault.Invalid, "That is not a colour scheme. Choose system, light or dark.")
	}
	SetCookie(w, r, schemeCookie, chosen, schemeAge)
	return s.SeeOther(w, LocalPath(fields.Get("next"), "/"))
}
