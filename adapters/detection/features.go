package detection

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed features.txt
var featuresFile string

// features is what features.txt says, as a tree over the tokens of each find.
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
	feature []int // the weights of the feature that ends here
}

// loadFeatures reads the table once, when the first text needs it: most processes never see one. It panics for a file that is not of
// the expected form. A test reads the one that is part of the program.
var loadFeatures = sync.OnceValue(func() *features {
	f := &features{root: &node{}}
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
				lines[language] = append(lines[language], inherited)
			}
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
	step := func(key string) {
		if at.next == nil {
			at.next = map[string]*node{}
		}
		if at.next[key] == nil {
			at.next[key] = &node{}
		}
		at = at.next[key]
	}
	for field := range strings.FieldsSeq(text) {
		if isClass(field) {
			step(field)
			if field == "START" {
				step("NL")
			}
			continue
		}
		tokenize(field, func(t token) {
			switch {
			case t.class == "START" || t.class == "NL" || t.class == "TXT": // the field's own
			case strings.HasSuffix(t.text, "ID") && t.class != "ID": // any name with that sign before it
				step(t.class)
			case t.class == "ID" && t.text == "ID":
				step("ID")
			default:
				step(t.text)
			}
		})
	}
	at.feature = append(at.feature, len(f.weights))
	f.weights = append(f.weights, weight{language: len(f.languages) - 1, points: points})
}

var classes = []string{"START", "NL", "ID", "NUM", "STR", "CHR", "RAW", "VAR", "ATT", "SYM", "HASH", "TXT"}

func isClass(word string) bool { return slices.Contains(classes, word) }
