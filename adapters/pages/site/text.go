package site

import "time"

// Moment is a time on a page.
type Moment struct{ time.Time }

// At returns t for a page.
func At(t time.Time) Moment { return Moment{t} }

// Machine returns the time for HTML's element time.
func (m Moment) Machine() string { return m.UTC().Format(time.RFC3339) }

// Day returns the day for people.
func (m Moment) Day() string { return m.UTC().Format("2 January 2006") }

// String returns the time for people.
func (m Moment) String() string { return m.UTC().Format("2 January 2006, 15:04 UTC") }

// The most characters shown of a page's title, and of other names.
const (
	MaxHeading = 1024 // the longest title, except in imports
	MaxName    = 200
)

// Shortened returns a text, or its beginning.
func Shortened(text string, most int) string {
	n := 0
	for i := range text {
		if n++; n > most {
			return text[:i] + "…"
		}
	}
	return text
}
