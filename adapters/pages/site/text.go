package site

import "time"

// At returns a time for people.
func At(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 UTC") }

// Day returns the day of a time for people.
func Day(t time.Time) string { return t.UTC().Format("2 January 2006") }

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
