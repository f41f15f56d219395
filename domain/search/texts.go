package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gluepot/gluepot/domain/paste"
)

// Texts are the searchable texts of a paste. Each text is folded and ends with a line end.
type Texts struct {
	Titles    string // of the paste and its pasties
	Text      string // Titles, and the code of the pasties
	Tags      string // with a line end before the first one
	Languages string // of the pasties, in the form of Tags
}

// TextsOf returns the texts of a paste.
func TextsOf(d *paste.Document) Texts {
	var titles, code, tags, languages strings.Builder
	add := func(to *strings.Builder, text string) {
		to.WriteString(text)
		to.WriteByte('\n')
	}
	add(&titles, Fold(d.Title))
	add(&tags, "")
	add(&languages, "")
	seen := make(map[string]bool)
	for _, pasty := range d.Pasties {
		add(&titles, Fold(pasty.Title))
		add(&code, Fold(pasty.Code))
		if !seen[pasty.Language] {
			add(&languages, Fold(pasty.Language))
			seen[pasty.Language] = true
		}
	}
	for _, tag := range d.Tags {
		add(&tags, foldName(tag))
	}
	return Texts{titles.String(), titles.String() + code.String(), tags.String(), languages.String()}
}

// Fold removes case from a text for comparisons, by Unicode's simple folding. U+0000, which databases refuse, becomes
// U+FFFD, as on pages.
func Fold(text string) string { return strings.Map(foldRune, text) }

func foldRune(r rune) rune {
	switch {
	case r >= 'A' && r <= 'Z':
		return r + 'a' - 'A'
	case r == 0:
		return utf8.RuneError
	case r < utf8.RuneSelf:
		return r
	}
	least, lower := r, rune(-1)
	for other, first := r, true; first || other != r; other, first = unicode.SimpleFold(other), false {
		least = min(least, other)
		// The database's index, too, leaves a lower-case letter as it is, in any locale.
		if unicode.ToLower(other) == other && (lower < 0 || other < lower) {
			lower = other
		}
	}
	if lower >= 0 {
		return lower
	}
	return least
}

// foldName is Fold for names, which are compared as a whole and must have no line ends.
func foldName(name string) string { return Fold(strings.ReplaceAll(name, "\n", " ")) }

// between returns a name in the form of Texts.
func between(name string) string { return "\n" + foldName(name) + "\n" }
