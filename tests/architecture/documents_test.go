package architecture

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	linkInText = regexp.MustCompile(`\]\(([^)#\s]+)(?:#[^)]*)?\)`)
	pathInText = regexp.MustCompile(
		"`((?:adapters|application|bootstrap|docs|domain|tests|\\.ci)(?:/[A-Za-z0-9_-]+)+(?:\\.[a-z]+)?)`")
	targetInText  = regexp.MustCompile("`make ([a-z-]+)")
	settingInText = regexp.MustCompile(`GLUEPOT_[A-Z][A-Z_]*[A-Z]`)
	testInText    = regexp.MustCompile("`(Test[A-Z][A-Za-z0-9]+)`")
	testInCode    = regexp.MustCompile(`(?m)^func (Test[A-Z]\w+)\(`)
	targetInMake  = regexp.MustCompile(`(?m)^([a-z-]+):`)
)

// TestDocuments checks that every file, make target, setting and test that a document names exists.
func TestDocuments(t *testing.T) {
	t.Parallel()
	const root = "../.."
	read := func(path string) string {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	targets := make(map[string]bool)
	for _, match := range targetInMake.FindAllStringSubmatch(read("Makefile"), -1) {
		targets[match[1]] = true
	}
	settings := read("docs/CONFIGURATION.md") + read("docs/TESTING.md")
	exists := func(path string) bool {
		_, err := os.Stat(filepath.Join(root, path))
		return err == nil
	}
	tests := make(map[string]bool)
	walk(t, root, "_test.go", func(path string) {
		for _, match := range testInCode.FindAllStringSubmatch(read(path), -1) {
			tests[match[1]] = true
		}
	})
	names := 0
	check := func(path string) {
		text := read(path)
		for _, match := range linkInText.FindAllStringSubmatch(text, -1) {
			if names++; !strings.Contains(match[1], ":") && !exists(filepath.Join(filepath.Dir(path), match[1])) {
				t.Errorf("%s links to %s, which does not exist", path, match[1])
			}
		}
		for _, match := range pathInText.FindAllStringSubmatch(text, -1) {
			if names++; !exists(match[1]) {
				t.Errorf("%s names %s, which does not exist", path, match[1])
			}
		}
		for _, match := range targetInText.FindAllStringSubmatch(text, -1) {
			if names++; !targets[match[1]] {
				t.Errorf("%s names make %s, which the Makefile does not have", path, match[1])
			}
		}
		for _, match := range testInText.FindAllStringSubmatch(text, -1) {
			if names++; !tests[match[1]] {
				t.Errorf("%s names %s, which is not a test", path, match[1])
			}
		}
		for _, name := range settingInText.FindAllString(text, -1) {
			if names++; !strings.Contains(settings, name) {
				t.Errorf("%s names %s, which is neither in docs/CONFIGURATION.md nor in docs/TESTING.md", path, name)
			}
		}
	}
	for _, path := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md"} {
		check(path)
	}
	walk(t, root+"/docs", ".md", func(path string) { check("docs/" + path) })
	if names < 100 {
		t.Errorf("got %d names in documents, want at least 100: the patterns no longer match", names)
	}
}

// walk calls visit with the path of each file below a folder whose name has this ending. The path is relative to it.
func walk(t *testing.T, folder, ending string, visit func(path string)) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(folder), ".", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ending) {
			visit(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestCleanKeepsTheStore checks that make clean removes what was built and the demonstration's database, and nothing
// else below data.
func TestCleanKeepsTheStore(t *testing.T) {
	t.Parallel()
	command := exec.CommandContext(t.Context(), "make", "-n", "--no-print-directory", "clean")
	command.Dir = "../.."
	got, err := command.Output()
	if want := "rm -rf bin\nrm -f data/demo.db data/demo.db-*\n"; err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}
