package site

import (
	"path"
	"strings"
	"testing"
)

// TestScriptIsSmall checks that pages load at most 8 kB of script, and a form 12 kB more before its editor.
// What is decrypted is shown before its colours come.
func TestScriptIsSmall(t *testing.T) {
	t.Parallel()
	files, err := assetFiles.ReadDir("assets")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		most := int64(8 << 10)
		switch {
		case file.Name() == "form.js":
			most = 12 << 10
		case strings.HasPrefix(file.Name(), "chunk-"), file.Name() == "colours.js": // no page waits for them
			continue
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
