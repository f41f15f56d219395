package contract_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// elsewhere are the ports whose implementations are not stores.
var elsewhere = map[string]string{
	"identity.ProviderClient": "adapters/signin, see its own tests",
	"identity.Passwords":      "adapters/passwords, see its own tests",
	"language.Catalogue":      "adapters/catalogue, see its own tests",
	"identity.Passkeys":       "adapters/passkeys, see its own tests",
	"language.Detector":       "adapters/detection, see its own tests",
}

// TestEveryPortHasASuite fails when a port of the domain, or a method of one, is not called by the suites.
func TestEveryPortHasASuite(t *testing.T) {
	t.Parallel()
	suites := readSuites(t)
	ports := 0
	eachInterface(t, "../../domain", func(name string, methods []string) {
		if elsewhere[name] != "" {
			return
		}
		ports++
		if !strings.Contains(suites, "\t"+name+"\n") && !strings.Contains(suites, " "+name+"\n") {
			t.Errorf("the port %s: got no suite that embeds it, want one", name)
		}
		for _, method := range methods {
			if !strings.Contains(suites, "."+method+"(") {
				t.Errorf("%s of the port %s: got no suite that calls it, want one", method, name)
			}
		}
	})
	if ports < 7 {
		t.Errorf("got %d ports, want at least 7: the domain is looked for in the wrong place", ports)
	}
}

// readSuites returns the text of the suites.
func readSuites(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// eachInterface calls visit with each exported interface below folder, as package.Name, and its methods.
func eachInterface(t *testing.T, folder string, visit func(name string, methods []string)) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			spec, ok := node.(*ast.TypeSpec)
			if !ok || !spec.Name.IsExported() {
				return true
			}
			port, ok := spec.Type.(*ast.InterfaceType)
			if !ok {
				return true
			}
			var methods []string
			for _, field := range port.Methods.List {
				for _, name := range field.Names {
					methods = append(methods, name.Name)
				}
			}
			visit(file.Name.Name+"."+spec.Name.Name, methods)
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
