package detection

import (
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"
)

// kinds are kinds of lines. A line is of the first kind that fits.
var kinds = []struct {
	name string
	line *regexp.Regexp
}{
	{"hunk", regexp.MustCompile(`^@@ -.* @@`)},
	{"fence", regexp.MustCompile("^\\s*```")},
	{"heading", regexp.MustCompile(`^#+ `)},
	{"comment", regexp.MustCompile(`^\s*[#;]`)},
	{"section", regexp.MustCompile(`^\s*\[.*\]$`)},
	{"item", regexp.MustCompile(`^\s*(- |-$|---$)`)},
	{"markup", regexp.MustCompile(`^\s*(\* |> |!\[)|\]\(`)},
	{"quoted", regexp.MustCompile(`^\s*[\pL\d_./$-]+\s*=\s*["'\[{]`)},
	{"setting", regexp.MustCompile(`^\s*[\pL\d_./$-]+\s*=`)},
	{"code", regexp.MustCompile(`[{;]$`)},
	{"column", regexp.MustCompile(`^\s*[^:]+:(\t|  +)\S`)},
	{"pair", regexp.MustCompile(`^\s*["']?[\pL_./$][\pL\d_./$-]*["']?:( |$)`)},
	{"nested", regexp.MustCompile(`^\s`)},
	{"sentence", regexp.MustCompile(`^(\pL\S*\s+){3}\pL`)},
}

// form returns the name of the language that a text shows by its form as a whole, or "".
func form(text string) string {
	text = strings.TrimSpace(text)
	if isJSON(text) {
		return "JSON"
	}
	n, filled, previous := map[string]int{}, 0, ""
	document := yaml{keys: map[string]bool{}}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		afterBlank := previous == ""
		if previous = line; line == "" {
			continue
		}
		filled++
		for _, kind := range kinds {
			if kind.line.MatchString(line) && (kind.name != "heading" || afterBlank) {
				n[kind.name]++
				document.read(line, kind.name, filled == 1)
				break
			}
		}
	}
	settings, pairs := n["setting"]+n["quoted"], n["pair"]
	comments := n["comment"] + n["heading"]
	prose := n["heading"] + n["fence"] + n["item"] + n["markup"] + n["sentence"]
	switch {
	case n["hunk"] > 0:
		return "diff"
	case n["fence"] > 0 && n["fence"]%2 == 0, n["heading"] > 0 && 2*prose > filled && settings+pairs+n["code"] == 0:
		return "Markdown"
	case n["section"] > 0 && settings+n["section"]+comments == filled:
		if n["quoted"] > 0 {
			return "TOML"
		}
		return "Properties files"
	case pairs > 0 && filled-comments > 1 && n["code"] == 0 && document.plausible &&
		10*(pairs+n["item"]+document.scalar+comments) >= 9*filled && 2*n["column"] < pairs:
		return "YAML"
	}
	return ""
}

// yaml looks for what no document in YAML has, but the output of many programs.
type yaml struct {
	plausible bool            // it begins as a document does, and no key of a mapping at the top stands twice
	keys      map[string]bool // at the top
	scalar    int             // lines of texts in blocks
	block     int             // how far the line is indented that a block of text belongs to, plus 1; 0: there is none
}

var (
	topKey     = regexp.MustCompile(`^[^\s#:-][^:]*:`)
	blockBegin = regexp.MustCompile(`[|>][+-]?$`)
)

func (y *yaml) read(line, kind string, first bool) {
	indented := len(line) - len(strings.TrimLeft(line, " "))
	if y.block > 0 && indented >= y.block {
		if kind == "nested" {
			y.scalar++
		}
		return
	}
	y.block = 0
	if blockBegin.MatchString(line) {
		y.block = indented + 1
	}
	if first {
		y.plausible = kind == "pair" || kind == "item" || kind == "comment" || kind == "heading" || strings.HasPrefix(line, "%YAML")
	}
	if strings.HasPrefix(line, "---") {
		clear(y.keys)
	}
	if key := topKey.FindString(line); key != "" {
		y.plausible = y.plausible && !y.keys[key]
		y.keys[key] = true
	}
}

// isJSON takes an object or array, or the beginning of one.
func isJSON(text string) bool {
	if !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "[") {
		return false
	}
	decoder := json.NewDecoder(strings.NewReader(text))
	for tokens := 0; ; tokens++ {
		if _, err := decoder.Token(); err != nil {
			return tokens > 1 && (errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF))
		}
	}
}
