package site

import (
	"strings"
	"time"

	"github.com/gluepot/gluepot/domain/paste"
)

// Read returns the paste that the path names.
func (s *Site) Read(r *Request) (paste.Document, error) {
	found, err := s.Modules.Pastes.Read.Do(r.Context(), r.Viewer, r.PathValue("id"))
	return found, s.Explained(r, err)
}

// Explained returns the error of a paste that cannot be read, which says so where operators have removed it.
func (s *Site) Explained(r *Request, err error) error {
	if err == nil {
		return nil
	}
	return s.Modules.Pastes.Explain.Do(r.Context(), r.PathValue("id"), err)
}

// TitleOf returns the title of a paste, or what comes next to one.
func TitleOf(found *paste.Document) string {
	if found.Encrypted() {
		return paste.Encrypted
	}
	if strings.TrimSpace(found.Title) != "" {
		return found.Title
	}
	for _, pasty := range found.Pasties {
		if strings.TrimSpace(pasty.Title) != "" {
			return pasty.Title
		}
	}
	return paste.Untitled
}

// Moment is a time as pages show it.
type Moment struct{ time.Time }

// At returns a time as pages show it.
func At(t time.Time) Moment { return Moment{t} }

// Machine returns it for programs (HTML's element time).
func (m Moment) Machine() string { return m.UTC().Format(time.RFC3339) }

// Day returns its day for people.
func (m Moment) Day() string { return m.UTC().Format("2 January 2006") }

// String returns it for people.
func (m Moment) String() string { return m.UTC().Format("2 January 2006, 15:04 UTC") }

// How many characters are shown of a title above a page, and of a name among others.
const (
	MaxHeading = 1024 // as many as a title may have that is not of an import
	MaxName    = 200
)

// Shortened returns a text, or how it begins.
func Shortened(text string, most int) string {
	n := 0
	for i := range text {
		if n++; n > most {
			return text[:i] + "…"
		}
	}
	return text
}
