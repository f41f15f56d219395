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
	{"pair", regexp.MustCompile(`^\s*["']?[\pL\d_./$-]+["']?:( |$)`)},
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
	case pairs > 0 && filled-comments > 1 && n["code"] == 0 && 10*(pairs+n["item"]+n["nested"]+comments) >= 9*filled:
		return "YAML"
	}
	return ""
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
