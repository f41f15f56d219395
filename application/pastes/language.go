package pastes

import (
	"strings"

	"github.com/gluepot/gluepot/domain/language"
	"github.com/gluepot/gluepot/domain/paste"
)

// NewLanguageResolver returns the rule that chooses a pasty's language. A requested language is found by name, then by
// extension, in any case. Autodetect goes by the title, then by the detector.
func NewLanguageResolver(languages language.Catalogue, detector language.Detector) paste.LanguageResolver {
	return func(choice, title, code string) (string, bool) {
		var (
			match *language.Language
			ok    bool
		)
		if strings.EqualFold(choice, paste.Autodetect) {
			if match, ok = language.ByTitle(title, languages); !ok {
				match, ok = detector.Detect(code)
			}
		} else {
			match, ok = language.Find(languages, choice)
		}
		// The catalogue has an entry for Autodetect, which is no answer.
		if !ok || match.Name == paste.Autodetect {
			return "", false
		}
		return match.Name, true
	}
}
