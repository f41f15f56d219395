// Package detection recognises the language of a text by its shebang or modeline, by its overall form, or by scoring
// words and symbols with the table in features.txt.
//
// Where it is not sure, it says nothing: what programs print and what people write has words and signs of many
// languages.
//
// It reads at most the first 16 KiB, and the last for a modeline. go-enry's classifier was not taken: it needs 12.7 MiB
// of heap, finds 92 of the 142 samples among these languages, and takes prose for XML. Not told apart are C and C++
// that use only what both have, JavaScript and TypeScript without a type, and dialects of SQL.
package detection

import (
	"strings"

	"github.com/gluepot/gluepot/domain/language"
)

// scope is how many bytes of a text are looked at.
const scope = 16 << 10

// What a language must reach to be believed: so many points, from so many features. Prose reaches less.
const (
	enoughPoints   = 6
	enoughFeatures = 2
)

// Detector implements language.Detector.
type Detector struct{ names language.Catalogue }

var _ language.Detector = (*Detector)(nil)

// New returns a detector of the languages that names knows.
func New(names language.Catalogue) *Detector { return &Detector{names: names} }

// Detect implements language.Detector.
func (d *Detector) Detect(text string) (*language.Language, bool) {
	text = strings.TrimPrefix(text, "\ufeff")
	beginning := text[:min(len(text), scope)]
	program := group(shebang, strings.TrimLeft(beginning, "\r\n"))
	for _, name := range [...]string{program, withoutVersion(program)} {
		if found, ok := d.names.ByInterpreter(name); ok {
			return found, true
		}
	}
	if found, ok := d.names.ByName(modeline(text)); ok {
		return found, true
	}
	name := form(beginning)
	if name == "" {
		name = mostLikely(beginning)
	}
	return d.names.ByName(name)
}

// mostLikely returns the name of the language whose features the text has most of, or "". A feature counts once.
func mostLikely(text string) string {
	table := loadFeatures()
	found := make([]bool, len(table.weights))
	points, features := make([]float64, len(table.languages)), make([]int, len(table.languages))
	var open, next []*node // features that have begun
	tokenize(text, func(token, class string) {
		keys := [...]string{token, class, ""}
		if lower := strings.ToLower(token); class == "ID" && lower != token { // some languages have no case
			keys[2] = lower
		}
		next = next[:0]
		for _, n := range append(open, table.root) {
			for _, key := range keys {
				child, ok := n.next[key]
				if !ok {
					continue
				}
				next = append(next, child)
				for _, i := range child.feature {
					if !found[i] {
						found[i] = true
						points[table.weights[i].language] += table.weights[i].points
						features[table.weights[i].language]++
					}
				}
			}
		}
		open, next = next, open
	})
	best, most := "", 0.0
	for i, name := range table.languages {
		if features[i] >= enoughFeatures && points[i] >= enoughPoints && points[i] > most {
			best, most = name, points[i]
		}
	}
	if most < needed(best, text) {
		return ""
	}
	return best
}
