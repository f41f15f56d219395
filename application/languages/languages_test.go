package languages_test

import (
	"testing"

	"github.com/gluepot/gluepot/application/languages"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/language"
	"github.com/gluepot/gluepot/tests/modules"
)

func TestLanguages(t *testing.T) {
	t.Parallel()
	one, two := &language.Language{Name: "one"}, &language.Language{Name: "two"}
	catalogue := modules.Languages{
		"name one": one, "name two": two, "name uno": one,
		"extension X": one, "extension x": two, "extension Y": one,
	}
	byName, byExtension := languages.New(catalogue).FindByName, languages.New(catalogue).FindByExtension
	for want, readings := range map[*language.Language][][]string{
		one: {{"one"}, {"uno"}, {"nothing", "one"}},
		two: {{"two"}, {"two", "uno"}},
	} {
		for _, r := range readings {
			if match, err := byName.Do(r...); err != nil || match != want {
				t.Errorf("%q: got %v, error %v, want %v", r, match, err, want)
			}
		}
	}
	for extension, want := range map[string]*language.Language{"X": one, ".X": one, "x": two, "Y": one, ".Y": one} {
		if match, err := byExtension.Do(extension); err != nil || match != want {
			t.Errorf("%q: got %v, error %v, want %v", extension, match, err, want)
		}
	}
	for _, readings := range [][]string{nil, {""}, {"", "one"}} {
		_, err := byName.Do(readings...)
		modules.WantKind(t, "no name", err, fault.Invalid)
		_, err = byExtension.Do(readings...)
		modules.WantKind(t, "no extension", err, fault.Invalid)
	}
	for _, text := range []string{"nothing", ".", "..X"} {
		_, err := byName.Do(text)
		modules.WantKind(t, text, err, fault.NotFound)
		_, err = byExtension.Do(text)
		modules.WantKind(t, text, err, fault.NotFound)
	}
}
