package site

import (
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/gluepot/gluepot/domain/paste"
)

// commonLanguages come first in the list.
var commonLanguages = []string{
	"C", "C#", "C++", "CSS", "diff", "Dockerfile", "Go", "HTML", "Java", "JavaScript", "JSON", "Kotlin", "Lua",
	"Markdown", "PHP", "Plain Text", "PowerShell", "Python", "Ruby", "Rust", "Shell", "SQL", "Swift", "TOML", "TypeScript",
	"XML", "YAML",
}

// LanguageOptions are the options of a field for a language, the common ones first. They are as short as HTML allows:
// most of the front page's bytes are theirs.
func (s *Site) LanguageOptions() templ.Component {
	var b strings.Builder
	for _, name := range slices.Concat(commonLanguages, s.languages()) {
		b.WriteString("<option>" + templ.EscapeString(name))
	}
	return templ.Raw(b.String())
}

// otherLanguages returns the names of all other languages, in alphabetical order.
func (s *Site) otherLanguages() (names []string) {
	for _, lang := range s.Modules.Languages.List.Do() {
		if lang.Name != paste.Autodetect && !slices.Contains(commonLanguages, lang.Name) {
			names = append(names, lang.Name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	return names
}
