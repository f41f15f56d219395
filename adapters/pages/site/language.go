package site

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/gluepot/gluepot/domain/paste"
)

// Languages writes the options of a list of languages: the selected one, which can be of an import and unknown to the catalogue,
// Autodetect, and all others.
func (s *Site) Languages(selected string) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		selected := cmp.Or(selected, paste.Autodetect)
		err := selectedLanguage(selected).Render(ctx, w)
		if err == nil && selected != paste.Autodetect {
			err = languageOption(paste.Autodetect).Render(ctx, w)
		}
		if err == nil {
			_, err = io.WriteString(w, s.options())
		}
		return err
	})
}

// commonLanguages are those that most pastes are in.
var commonLanguages = []string{
	"Plain Text", "C", "C#", "C++", "CSS", "diff", "Dockerfile", "Go", "HTML", "Java", "JavaScript", "JSON", "Kotlin", "Lua",
	"Markdown", "PHP", "PowerShell", "Python", "Ruby", "Rust", "Shell", "SQL", "Swift", "TOML", "TypeScript", "XML", "YAML",
}

// languageOptions returns the languages to select from as HTML, which is made once: a form can have them a hundred times.
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
