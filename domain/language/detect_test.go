package language

import (
	"strings"
	"testing"
)

// table is a Catalogue of a few languages.
type table struct {
	Catalogue

	languages map[string]*Language
}

func (t table) ByFilename(name string) (*Language, bool) {
	match, ok := t.languages["file "+name]
	return match, ok
}
func (t table) ByExtension(extension string) (*Language, bool) {
	match, ok := t.languages[extension]
	return match, ok
}

func TestByTitle(t *testing.T) {
	t.Parallel()
	catalogue := table{languages: map[string]*Language{
		"file Makefile": {Name: "Makefile"}, "go": {Name: "Go"}, "GO": {Name: "Go"},
		"blade.php": {Name: "Blade"}, "php": {Name: "PHP"}, "file CMakeLists.txt": {Name: "CMake"},
		"txt": {Name: "Plain Text"},
	}}
	for title, want := range map[string]string{
		"main.go": "Go", ".go": "Go", "MAIN.GO": "Go", "src/main.go": "Go", `C:\src\main.go`: "Go", "a.b.go": "Go",
		"view.blade.php": "Blade", "view.php": "PHP", "Makefile": "Makefile", "sub/Makefile": "Makefile",
		"CMakeLists.txt": "CMake",
		"go":             "", "": "", "notes": "", "main.go/": "", "go.": "", "makefile": "", "x.unknown": "",
	} {
		got := ""
		if match, ok := ByTitle(title, catalogue); ok {
			got = match.Name
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", title, got, want)
		}
	}
}

// countingTable counts the bytes of the extensions that are looked up.
type countingTable struct {
	table

	bytes *int
}

func (c countingTable) ByExtension(extension string) (*Language, bool) {
	*c.bytes += len(extension)
	return c.table.ByExtension(extension)
}

// TestByTitleOfDots checks that the work for a title is linear in its length. A title can have thousands of extensions,
// and a request hundreds of such titles.
func TestByTitleOfDots(t *testing.T) {
	t.Parallel()
	bytes := 0
	catalogue := countingTable{table{languages: map[string]*Language{"go": {Name: "Go"}}}, &bytes}
	title := strings.Repeat(".ä", 2048)
	if match, ok := ByTitle(title, catalogue); ok || bytes > len(title) {
		t.Errorf("got %v, %d bytes looked up, want no language and at most %d", match, bytes, len(title))
	}
	if match, ok := ByTitle(title+".go", catalogue); !ok || match.Name != "Go" {
		t.Errorf("got %v, want Go", match)
	}
}
