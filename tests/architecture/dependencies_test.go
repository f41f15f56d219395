package architecture

import (
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"strings"
	"testing"
)

// TestDependencies checks that the document gives a reason for each module that go.mod requires directly, and for no
// other.
func TestDependencies(t *testing.T) {
	t.Parallel()
	edit := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json")
	edit.Dir = "../.."
	out, err := edit.Output()
	if err != nil {
		t.Fatal(err)
	}
	var mod struct {
		Require []struct {
			Path     string
			Indirect bool
		}
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/dependencies.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(page)
	required := map[string]bool{}
	for _, module := range mod.Require {
		required[module.Path] = true
		listed := strings.Contains(text, "`"+module.Path+"`") || // or as a module of another one
			strings.Contains(text, "`"+path.Dir(path.Dir(module.Path))+"` and its module `"+path.Base(module.Path)+"`")
		if listed == module.Indirect {
			t.Errorf("%s: got listed %v, want %v in docs/dependencies.md", module.Path, listed, !module.Indirect)
		}
	}
	for line := range strings.Lines(text) {
		modules, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " |")
		for i, name := range strings.Split(modules, "`") {
			if i%2 == 1 && strings.Contains(name, "/") && !strings.HasPrefix(name, "@") && !required[name] { // "@" is of npm
				t.Errorf("got %s listed, want only what go.mod requires", name)
			}
		}
	}
}
