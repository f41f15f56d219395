package sqlitefile

import (
	"os"
	"path/filepath"
	"testing"
)

// TestFileSize checks that the size includes the log, also through a link.
func TestFileSize(t *testing.T) {
	t.Parallel()
	path, link := filepath.Join(t.TempDir(), "gluepot.db"), filepath.Join(t.TempDir(), "link.db")
	for name, bytes := range map[string]int{path: 5, path + "-wal": 7} {
		if err := os.WriteFile(name, make([]byte, bytes), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, link} {
		if got, err := fileSize(name); got != 12 || err != nil {
			t.Errorf("%s: got %d bytes, error %v, want 12", name, got, err)
		}
	}
}
