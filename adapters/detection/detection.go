// Package detection recognises the language of a text by its shebang or modeline, by its overall form, or by scoring
// words and symbols with the table in features.txt.
//
// If it is not sure, it returns no language, because the output of programs and prose have words and signs of many
// languages.
//
// It reads at most the first 16 KiB, and the last 16 KiB for a modeline. go-enry's classifier was not chosen: it needs
// 12.7 MiB of heap, recognises 92 of the 142 samples of these languages, and takes prose for XML. The package does not
// tell apart C and C++ that use only what both have, JavaScript and TypeScript without types, and dialects of SQL.
package detection

import (
	"strings"

	"github.com/gluepot/gluepot/domain/language"
)

// scope is how many bytes of a text are read.
const scope = 16 << 10

// A language needs at least this many points, from at least this many features. Prose has fewer.
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
		if l, ok := d.names.ByInterpreter(name); ok {
			return l, true
		}
	}
	if l, ok := d.names.ByName(modeline(text)); ok {
		return l, true
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
	counted := make([]bool, len(table.weights))
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
					if !counted[i] {
						counted[i] = true
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
	if most < threshold(best, text) {
		return ""
	}
	return best
}
