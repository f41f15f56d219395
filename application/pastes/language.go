package pastes

import (
	"strings"

	"github.com/gluepot/gluepot/domain/language"
	"github.com/gluepot/gluepot/domain/paste"
)

// LanguageCatalogue is what NewLanguageResolver needs to know about languages.
type LanguageCatalogue interface {
	language.Names
	language.Extensions
	language.Filenames
}

// NewLanguageResolver returns the rule that chooses a pasty's language. A requested language is found by name, then alias, then
// extension, in any case. Autodetect goes by the title, then by the detector.
func NewLanguageResolver(catalogue LanguageCatalogue, detector language.Detector) paste.LanguageResolver {
	return func(wanted, title, code string) (string, bool) {
		if !strings.EqualFold(wanted, paste.Autodetect) {
			return named(catalogue, wanted)
		}
		found, ok := language.ByTitle(title, catalogue, catalogue)
		if !ok {
			found, ok = detector.Detect(code)
		}
		// The catalogue has an entry for Autodetect, which is no answer.
		if !ok || found.Name == paste.Autodetect {
			return "", false
		}
		return found.Name, true
	}
}

func named(catalogue LanguageCatalogue, wanted string) (string, bool) {
	extension := strings.TrimPrefix(wanted, ".")
	for _, way := range []struct {
		find func(string) (*language.Language, bool)
		text string
	}{
		{catalogue.ByName, wanted}, {catalogue.ByAlias, wanted}, {catalogue.ByExtension, extension}, {catalogue.ByFoldedExtension, extension},
	} {
		if found, ok := way.find(way.text); ok && found.Name != paste.Autodetect {
			return found.Name, true
		}
	}
	return "", false
}
