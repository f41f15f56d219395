package program

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.uber.org/fx"
)

//go:generate go test -run ^TestPicture$ . -update

var update = flag.Bool("update", false, "write the picture of the graph into docs/ARCHITECTURE.md")

// TestPicture checks that docs/ARCHITECTURE.md shows the graph of a server with all optional modules.
func TestPicture(t *testing.T) {
	t.Parallel()
	const path = "../../docs/ARCHITECTURE.md"
	const begin, end = "<!-- graph: go generate ./bootstrap/program -->\n", "<!-- end of graph -->\n"
	document, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(document), begin)
	old, after, complete := strings.Cut(rest, end)
	if !ok || !complete {
		t.Fatalf("%s: got no lines %q and %q, want the picture between them", path, begin, end)
	}
	picture := draw(t, servers(t)["everything on PostgreSQL"])
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+picture+end+after), 0o600); err != nil {
			t.Fatal(err)
		}
	} else if old != picture {
		t.Errorf("%s: got a picture of another graph, want this one (go generate ./bootstrap/program):\n%s", path, picture)
	}
}

var (
	cluster    = regexp.MustCompile(`cluster_(\d+) \{\n(?:\t\tlabel = .*\n)?\t\tconstructor_.*\n\t\t"(.+)" \[label=<`)
	dependency = regexp.MustCompile(`constructor_(\d+) -> "(.+)" \[ltail=\w+( style=dashed)?\];`)
	adapter    = regexp.MustCompile(`^fx\.Annotate\(\S*/(\w+\.\w+)\(\), fx\.As\(`)
)

// draw returns the modules of a graph, with their dependencies as a Mermaid diagram and their ports as a table. The
// diagram leaves out arrows that follow from others, and what nearly all modules depend on.
func draw(t *testing.T, options fx.Option) string {
	t.Helper()
	var dot fx.DotGraph
	e := build(t, options, fx.Populate(&dot))
	picture := new(strings.Builder)
	modules := make(map[string]string) // by the type that they provide
	fmt.Fprint(picture, "| port | adapter | module |\n|---|---|---|\n")
	for _, provided := range e.provided {
		for _, result := range provided.OutputTypeNames {
			modules[result] = provided.ModuleName
		}
		if match := adapter.FindStringSubmatch(provided.ConstructorName); match != nil {
			fmt.Fprintf(picture, "| `%s` | `%s` | %s |\n",
				strings.Join(provided.OutputTypeNames, "`, `"), match[1], provided.ModuleName)
		}
	}
	consumers := make(map[string]string) // module by number of the constructor
	for _, match := range cluster.FindAllStringSubmatch(string(dot), -1) {
		consumers[match[1]] = modules[match[2]]
	}
	arrows := make(map[[2]string]string)
	for _, match := range dependency.FindAllStringSubmatch(string(dot), -1) {
		ends := [2]string{consumers[match[1]], modules[match[2]]}
		if ends[0] != ends[1] && ends[0] != "" && !slices.Contains(omitted, ends[1]) && arrows[ends] != always {
			arrows[ends] = always
			if match[3] != "" {
				arrows[ends] = optional
			}
		}
	}
	lines := new(strings.Builder)
	inOrder := func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }
	for _, ends := range slices.SortedFunc(maps.Keys(arrows), inOrder) {
		if arrow := arrows[ends]; !follows(arrows, ends, arrow) {
			fmt.Fprintf(lines, "  %s %s %s\n", ends[0], arrow, ends[1])
		}
	}
	fmt.Fprintf(picture, "\n%s\n\n```mermaid\nflowchart LR\n%s```\n", legend, lines)
	return picture.String()
}

const legend = "An arrow points to a module that starts earlier and stops later. " +
	"A dotted arrow marks a dependency that can be left out.\n" +
	"The picture omits arrows that follow from others, and the log and the configuration, which every module needs."

const always, optional = "-->", "-.->"

// follows reports whether other arrows lead from one end to the other, without optional ones unless arrow is one.
func follows(arrows map[[2]string]string, ends [2]string, arrow string) bool {
	for next, kind := range arrows {
		if next[0] != ends[0] || next[1] == ends[1] || kind == optional && arrow == always {
			continue
		}
		rest := [2]string{next[1], ends[1]}
		if direct := arrows[rest]; direct == always || direct == arrow || follows(arrows, rest, arrow) {
			return true
		}
	}
	return false
}

// omitted are the modules of the log, of the configuration and the clock, and of fx.
var omitted = []string{"log", "gluepot", ""}
