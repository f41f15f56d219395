package site

import (
	"path"
	"testing"
)

// TestScriptIsSmall holds that pages come with at most 4 kB of script, and 12 kB more where something is encrypted.
func TestScriptIsSmall(t *testing.T) {
	t.Parallel()
	for name, asset := range newAssets() {
		most := 4 << 10
		if asset.name == "encryption.js" {
			most = 12 << 10
		}
		if size := len(asset.content); path.Ext(name) == ".js" && size > most {
			t.Errorf("got %d bytes of %s, want at most %d", size, asset.name, most)
		}
	}
}
