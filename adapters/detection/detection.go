// Package detection recognises the language of a text by its shebang or modeline, by its overall form, or by scoring words and
// symbols with the table in features.txt.
//
// It reads at most the first 16 KiB, once. go-enry's classifier was not taken: it needs 12.7 MiB of heap, finds 92 of the 142 samples
// among these languages, and takes prose for XML. Not told apart are C and C++ that use only what both have, JavaScript and TypeScript
// without a type, and dialects of SQL.
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
type Detector struct{ names language.Names }

var _ language.Detector = (*Detector)(nil)

// New returns a detector of the languages that names knows.
func New(names language.Names) *Detector { return &Detector{names: names} }

// Detect implements language.Detector.
func (d *Detector) Detect(text string) (*language.Language, bool) {
	text = strings.TrimPrefix(text, "\ufeff")
	program := interpreter(text)
	for _, name := range [...]string{program, withoutVersion(program)} {
		if found, ok := d.names.ByInterpreter(name); ok {
			return found, true
		}
	}
	if found, ok := d.names.ByName(modeline(text)); ok {
		return found, true
	}
	if len(text) > scope {
		text = text[:scope]
	}
	if name := form(text); name != "" {
		return d.names.ByName(name)
	}
	return d.names.ByName(mostLikely(text))
}

// mostLikely returns the name of the language whose features the text has most of, or "".
func mostLikely(text string) string {
	table := loadFeatures()
	best, bestPoints := "", 0.0
	for i, s := range table.score(text) {
		if s.features >= enoughFeatures && s.points >= enoughPoints && s.points > bestPoints {
			best, bestPoints = table.languages[i], s.points
		}
	}
	return best
}

// score is what a text says for a language.
type score struct {
	points   float64
	features int // different ones
}

// score adds up the features of a text for each language.
func (f *features) score(text string) []score {
	found := make([]int, len(f.weights))
	var open, next []*node // features that have begun
	tokenize(text, func(t token) {
		keys := keysOf(t)
		next = next[:0]
		open = append(open, f.root)
		for _, n := range open {
			for _, key := range keys {
				if child, ok := n.next[key]; ok {
					next = append(next, child)
					for _, i := range child.feature {
						found[i]++
					}
				}
			}
		}
		open, next = next, open
	})
	scores := make([]score, len(f.languages))
	for i, count := range found {
		if count == 0 {
			continue
		}
		s := &scores[f.weights[i].language]
		s.points += f.weights[i].points * (1 + float64(min(count-1, 4))/4)
		s.features++
	}
	return scores
}

// keysOf returns what a feature may call the token: the text, its class, and, since some languages have no case, a word's lower case.
func keysOf(t token) (keys [3]string) {
	keys[0], keys[1] = t.text, t.class
	if t.class == "ID" && t.text[0] < 'a' {
		if lower := strings.ToLower(t.text); lower != t.text {
			keys[2] = lower
		}
	}
	return keys
}
