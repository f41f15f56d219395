package site

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/gluepot/gluepot/domain/paste"
)

// commonLanguages come first in the list.
var commonLanguages = []string{
	"Plain Text", "C", "C#", "C++", "CSS", "diff", "Dockerfile", "Go", "HTML", "Java", "JavaScript", "JSON", "Kotlin", "Lua",
	"Markdown", "PHP", "PowerShell", "Python", "Ruby", "Rust", "Shell", "SQL", "Swift", "TOML", "TypeScript", "XML", "YAML",
}

// options is the HTML of the list of languages, made once: a form can contain it a hundred times.
type options func() string

// Render implements templ.Component.
func (o options) Render(_ context.Context, w io.Writer) error {
	_, err := io.WriteString(w, o())
	return err
}

func (s *Site) languageOptions() string {
	var common, others []string
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
	var html strings.Builder
	_ = languageGroups(common, others).Render(context.Background(), &html) // a builder takes everything
	return html.String()
}
