package site

import "time"

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
