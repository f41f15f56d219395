package architecture

import (
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"strings"
	"testing"
)

// TestDependencies checks that docs/dependencies.md lists the modules that go.mod requires directly, and no others.
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
	requirements := map[string]bool{}
	for _, module := range mod.Require {
		requirements[module.Path] = true
		inDocument := strings.Contains(text, "`"+module.Path+"`") || // or as a module of another one
			strings.Contains(text, "`"+path.Dir(path.Dir(module.Path))+"` and its module `"+path.Base(module.Path)+"`")
		if inDocument == module.Indirect {
			t.Errorf("%s in docs/dependencies.md: got %v, want %v", module.Path, inDocument, !module.Indirect)
		}
	}
	for line := range strings.Lines(text) {
		modules, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " |")
		for i, name := range strings.Split(modules, "`") {
			if i%2 == 1 && strings.Contains(name, "/") && !strings.HasPrefix(name, "@") && !requirements[name] { // "@" is npm's
				t.Errorf("got %s in docs/dependencies.md, want only what go.mod requires", name)
			}
		}
	}
}
