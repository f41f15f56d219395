package detection

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

//go:embed features.txt
var featuresFile string

// features holds features.txt, as a tree over the tokens of each feature.
type features struct {
	languages []string // in the file's order
	root      *node
	weights   []weight
}

// weight is how much a feature says for one language.
type weight struct {
	language int // index into languages
	points   float64
}

type node struct {
	next    map[string]*node
	feature []int // the weights of the features that end here
}

// loadFeatures reads the table once, when the first text needs it: most processes never need it. It panics if the file
// is malformed, which a test rules out.
var loadFeatures = sync.OnceValue(func() *features {
	f := &features{root: &node{next: map[string]*node{}}}
	lines := map[string][]string{} // of each language
	language := ""
	for line := range strings.Lines(featuresFile) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			var from string
			language, from, _ = strings.Cut(strings.Trim(line, "[]"), " < ")
			f.languages = append(f.languages, language)
			for _, inherited := range lines[from] {
				f.add(inherited)
			}
			lines[language] = append(lines[language], lines[from]...)
		default:
			f.add(line)
			lines[language] = append(lines[language], line)
		}
	}
	return f
})

// add adds a line to the last language.
func (f *features) add(line string) {
	number, text, _ := strings.Cut(line, " ")
	points, err := strconv.ParseFloat(number, 64)
	if err != nil || text == "" {
		panic("features.txt: not a weight and a feature: " + line)
	}
	at := f.root
	for token := range strings.FieldsSeq(text) {
		if at.next[token] == nil {
			at.next[token] = &node{next: map[string]*node{}}
		}
		at = at.next[token]
	}
	at.feature = append(at.feature, len(f.weights))
	f.weights = append(f.weights, weight{language: len(f.languages) - 1, points: points})
}
