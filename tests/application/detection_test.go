package application

import (
	"os"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/catalogue"
	"github.com/gluepot/gluepot/adapters/detection"
	"github.com/gluepot/gluepot/domain/language"
)

// TestDetectedLanguages checks that the catalogue has each language that the detector can find, under the same name.
func TestDetectedLanguages(t *testing.T) {
	t.Parallel()
	languages := catalogue.New()
	samples, err := os.ReadFile("../../adapters/detection/testdata/samples.txt") // of every language
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := languages.ByName(language.PlainText); !ok {
		t.Errorf("got no %s in the catalogue", language.PlainText)
	}
	for sample := range strings.SplitSeq(strings.TrimPrefix(string(samples), "=== "), "\n=== ") {
		name, text, _ := strings.Cut(sample, "\n")
		if match, ok := detection.New(languages).Detect(text); name != language.PlainText && (!ok || match.Name != name) {
			t.Errorf("got %v, want %s in the catalogue", match, name)
		}
	}
	for alias, want := range map[string]string{"plaintext": language.PlainText, "Docker": "Dockerfile",
		"TikiWiki": "Tiki wiki"} {
		if match, ok := languages.ByName(alias); !ok || match.Name != want {
			t.Errorf("%s, which real clients send: got %v, want %s", alias, match, want)
		}
	}
}
