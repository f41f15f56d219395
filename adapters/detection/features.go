package detection

import (
	_ "embed"
	"fmt"
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
	words     map[string]bool // that some feature spells out
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

// reserved are words that are names in no common language.
var reserved = wordSet(`if else elif elsif elseif for foreach while do done then fi end begin return break continue switch case when match
	in is not and or new class struct enum interface trait impl public private protected static void const let var val function def
	func fn fun sub import from using use package module namespace try catch except finally throw raise with as export extends
	implements select where null nil None true false True False`)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// loadFeatures reads the table once, when the first text needs it: most processes never see one.
var loadFeatures = sync.OnceValues(func() (*features, error) { return parseFeatures(featuresFile) })

// inherited is a language that has all the features of another.
type inherited struct{ language, from int }

func parseFeatures(file string) (*features, error) {
	f := &features{root: &node{}, words: map[string]bool{}}
	var heirs []inherited
	for number, line := range slices.All(strings.Split(file, "\n")) {
		var err error
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]"):
			heirs, err = f.addLanguage(strings.Trim(line, "[]"), heirs)
		default:
			err = f.addFeature(line)
		}
		if err != nil {
			return nil, fmt.Errorf("features.txt:%d: %w", number+1, err)
		}
	}
	for _, heir := range heirs {
		f.inherit(heir)
	}
	return f, nil
}

func (f *features) addLanguage(title string, heirs []inherited) ([]inherited, error) {
	name, from, inherits := strings.Cut(title, " < ")
	if inherits {
		i := slices.Index(f.languages, from)
		if i < 0 {
			return heirs, fmt.Errorf("%s does not come before %s", from, name)
		}
		heirs = append(heirs, inherited{language: len(f.languages), from: i})
	}
	f.languages = append(f.languages, name)
	return heirs, nil
}

func (f *features) addFeature(line string) error {
	number, text, _ := strings.Cut(line, " ")
	points, err := strconv.ParseFloat(number, 64)
	if err != nil || len(f.languages) == 0 {
		return fmt.Errorf("%q is not a weight and a feature of a language", line)
	}
	at, depth := f.root, 0
	step := func(key string) {
		if at.next == nil {
			at.next = map[string]*node{}
		}
		if at.next[key] == nil {
			at.next[key] = &node{}
		}
		at = at.next[key]
		depth++
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
				f.words[t.text] = true
				step(t.text)
			}
		})
	}
	if depth == 0 {
		return fmt.Errorf("%q has no feature", line)
	}
	at.feature = append(at.feature, len(f.weights))
	f.weights = append(f.weights, weight{language: len(f.languages) - 1, points: points})
	return nil
}

// inherit gives a language the features of another.
func (f *features) inherit(heir inherited) {
	var walk func(*node)
	walk = func(n *node) {
		for _, i := range n.feature {
			if f.weights[i].language == heir.from {
				n.feature = append(n.feature, len(f.weights))
				f.weights = append(f.weights, weight{language: heir.language, points: f.weights[i].points})
			}
		}
		for _, child := range n.next {
			walk(child)
		}
	}
	walk(f.root)
}

var classes = []string{"START", "NL", "ID", "NUM", "STR", "CHR", "RAW", "VAR", "ATT", "SYM", "HASH", "TXT"}

func isClass(word string) bool { return slices.Contains(classes, word) }
