package detection

import (
	"hash/fnv"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sourceLanguages are the languages of files by their ends.
var sourceLanguages = map[string]string{
	".bat": "Batchfile", ".c": "C", ".cc": "C++", ".cpp": "C++", ".css": "CSS", ".ex": "Elixir", ".go": "Go",
	".graphql": "GraphQL",
	".hs":      "Haskell", ".html": "HTML", ".java": "Java", ".jl": "Julia", ".js": "JavaScript", ".json": "JSON",
	".kt":  "Kotlin",
	".lua": "Lua", ".md": "Markdown", ".mk": "Makefile", ".ml": "OCaml", ".php": "PHP", ".pl": "Perl",
	".proto": "ProtoBuf",
	".ps1":   "PowerShell", ".py": "Python", ".rb": "Ruby", ".rs": "Rust", ".scala": "Scala", ".scss": "SCSS",
	".sh":  "Shell",
	".sql": "SQL", ".swift": "Swift", ".tex": "LaTeX", ".toml": "TOML", ".ts": "TypeScript", ".xml": "XML",
	".yaml": "YAML",
	".yml":  "YAML", ".zig": "Zig", "Dockerfile": "Dockerfile", "Makefile": "Makefile", ".patch": "diff", ".diff": "diff",
}

// unusual matches files that nobody would paste: generated ones, and those that test parsers of their language.
var unusual = regexp.MustCompile(`(?i)testdata|/tests?/|generated|vendor|\.min\.|/z[a-z_]*_[a-z0-9_]*\.go$`)

const perLanguage = 15

// TestSources detects files of Go's standard library and of the modules that this one requires, equally many of each
// language, chosen by a hash of their names. They were not used to make the detector, which does not see the names.
func TestSources(t *testing.T) {
	t.Parallel()
	list := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "all")
	dirs, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	own, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]string{}
	for dir := range strings.FieldsSeq(string(dirs) + " " + filepath.Join(strings.TrimSpace(string(root)), "src")) {
		if dir == own {
			continue
		}
		_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error { // unreadable files are skipped
			if err != nil || entry.IsDir() || unusual.MatchString(path) {
				return nil //nolint:nilerr // see above
			}
			name := entry.Name()
			language := sourceLanguages[name]
			if language == "" {
				language = sourceLanguages[filepath.Ext(name)]
			}
			if info, err := entry.Info(); language != "" && err == nil && info.Size() > 300 && info.Size() < 60_000 {
				files[language] = append(files[language], path)
			}
			return nil
		})
	}
	all, right := 0, 0
	for _, language := range slices.Sorted(maps.Keys(files)) {
		paths := files[language]
		slices.SortFunc(paths, func(a, b string) int { return strings.Compare(hashOf(a), hashOf(b)) })
		matches := 0
		paths = paths[:min(len(paths), perLanguage)]
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Replace(detect(string(text)), "run by python", "Python", 1) // see stubCatalogue
			if got == language {
				matches++
			} else {
				t.Logf("%s: got %s, want %s", path, got, language)
			}
		}
		t.Logf("%s: %d of %d", language, matches, len(paths))
		all, right = all+len(paths), right+matches
	}
	t.Logf("%d of %d", right, all)
	if all < 200 || 100*right < 85*all {
		t.Errorf("got %d of %d languages right, want 85 %% of 200 or more", right, all)
	}
}

// hashOf returns a hash of the end of a path, which is the same on each machine.
func hashOf(path string) string {
	parts := strings.Split(filepath.ToSlash(path), "/")
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(strings.Join(parts[max(0, len(parts)-3):], "/"))) // never fails
	return string(hash.Sum(nil))
}
