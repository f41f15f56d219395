package application

import (
	"os"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/adapters/catalogue"
	"github.com/gluepot/gluepot/adapters/detection"
	"github.com/gluepot/gluepot/domain/language"
)

// TestDetectedLanguages sees that what the detector can find is in the catalogue under that very name.
func TestDetectedLanguages(t *testing.T) {
	t.Parallel()
	known := catalogue.New()
	samples, err := os.ReadFile("../../adapters/detection/testdata/samples.txt") // of every language
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := known.ByName(language.PlainText); !ok {
		t.Errorf("got no %s in the catalogue", language.PlainText)
	}
	for sample := range strings.SplitSeq(strings.TrimPrefix(string(samples), "=== "), "\n=== ") {
		name, text, _ := strings.Cut(sample, "\n")
		if found, ok := detection.New(known).Detect(text); name != language.PlainText && (!ok || found.Name != name) {
			t.Errorf("got %v, want %s in the catalogue", found, name)
		}
	}
	for alias, want := range map[string]string{"plaintext": language.PlainText, "Docker": "Dockerfile",
		"TikiWiki": "Tiki wiki"} {
		if found, ok := known.ByName(alias); !ok || found.Name != want {
			t.Errorf("got %v, want %s, for %s, which real clients send", found, want, alias)
		}
	}
}
