package site

import (
	"slices"
	"strings"

	"github.com/gluepot/gluepot/domain/paste"
)

// commonLanguages come first in the list.
var commonLanguages = []string{
	"Plain Text", "C", "C#", "C++", "CSS", "diff", "Dockerfile", "Go", "HTML", "Java", "JavaScript", "JSON", "Kotlin", "Lua",
	"Markdown", "PHP", "PowerShell", "Python", "Ruby", "Rust", "Shell", "SQL", "Swift", "TOML", "TypeScript", "XML", "YAML",
}

// languageNames returns the names for lists of languages, in the order of letters.
func (s *Site) languageNames() (common, others []string) {
	for _, known := range s.Modules.Languages.List.Do() {
		switch {
		case slices.Contains(commonLanguages, known.Name):
			common = append(common, known.Name)
		case known.Name != paste.Autodetect:
			others = append(others, known.Name)
		}
	}
	for _, names := range [][]string{common, others} {
		slices.SortFunc(names, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	}
	return common, others
}
