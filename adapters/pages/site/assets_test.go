package site

import (
	"path"
	"testing"
)

// TestScriptIsSmall holds that pages come with at most 4 kB of script, and 12 kB more where something is encrypted.
func TestScriptIsSmall(t *testing.T) {
	t.Parallel()
	files, err := assetFiles.ReadDir("assets")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		most := int64(4 << 10)
		if file.Name() == "encryption.js" {
			most = 13 << 10
		}
		about, err := file.Info()
		if err != nil {
			t.Fatal(err)
		}
		if size := about.Size(); path.Ext(file.Name()) == ".js" && size > most {
			t.Errorf("got %d bytes of %s, want at most %d", size, file.Name(), most)
		}
	}
}
