package pastes

import (
	"strings"

	"github.com/gluepot/gluepot/domain/language"
	"github.com/gluepot/gluepot/domain/paste"
)

// NewLanguageResolver returns the rule that chooses a pasty's language. A requested language is found by name, then by
// extension, in any case. Autodetect goes by the title, then by the detector.
func NewLanguageResolver(languages language.Catalogue, detector language.Detector) paste.LanguageResolver {
	return func(wanted, title, code string) (string, bool) {
		var (
			found *language.Language
			ok    bool
		)
		if strings.EqualFold(wanted, paste.Autodetect) {
			if found, ok = language.ByTitle(title, languages); !ok {
				found, ok = detector.Detect(code)
			}
		} else {
			found, ok = language.Find(languages, wanted)
		}
		// The catalogue has an entry for Autodetect, which is no answer.
		if !ok || found.Name == paste.Autodetect {
			return "", false
		}
		return found.Name, true
	}
}
