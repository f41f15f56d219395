// Package architecture checks the code against the import table of docs/ARCHITECTURE.md, including transitive imports,
// and against a few rules that no linter knows.
package architecture

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/gluepot/gluepot/"

// goPackage is a package as "go list -deps" describes it.
type goPackage struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Deps       []string
}

func list(t *testing.T) map[string]goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Standard,Imports,Deps", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string]goPackage{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages[p.ImportPath] = p
	}
}

// parts returns the layer of one of our packages, and its first folder below the layer.
func parts(importPath string) (layer, part string) {
	segments := strings.Split(strings.TrimPrefix(importPath, module), "/")
	if len(segments) < 2 {
		return segments[0], ""
	}
	return segments[0], segments[1]
}

func TestImports(t *testing.T) {
	t.Parallel()
	packages := list(t)
	layers := map[string]bool{}
	for path, p := range packages {
		if !strings.HasPrefix(path, module) {
			continue
		}
		layer, part := parts(path)
		layers[layer] = true
		if owner, _, internal := strings.Cut(path, "/internal/"); internal {
			_, ok := packages[owner]
			if owner != module+"adapters" && (!ok || layer == "domain" || layer == "application") {
				t.Errorf("got the internal package %s, which nobody could embed, want those only in adapters and bootstrap",
					path)
			}
		}
		for _, dep := range p.Deps {
			ours, theirLayer, theirPart := strings.HasPrefix(dep, module), "", ""
			if ours {
				theirLayer, theirPart = parts(dep)
			}
			allowed := true
			switch layer {
			case "domain":
				allowed = ours && theirLayer == "domain" || pureStandard(packages[dep])
			case "application":
				allowed = ours && (theirLayer == "domain" || theirLayer == "application" && theirPart == part) ||
					pureStandard(packages[dep])
			case "adapters":
				if ours {
					allowed = theirLayer == "domain" || theirLayer == "application" ||
						theirLayer == "adapters" && (theirPart == part || theirPart == "internal")
				}
				allowed = allowed && !strings.HasPrefix(dep, "go.uber.org/fx")
			case "bootstrap":
				allowed = !ours || theirLayer != "tests"
				if part != "program" && part != "cmd" && part != "gluepottest" { // which only tests link
					allowed = allowed && !isInterface(dep)
				}
			}
			if strings.HasPrefix(path, module+"adapters/client") { // which speaks HTTP
				allowed = allowed && dep != "database/sql" && theirLayer != "application"
			}
			if !allowed {
				t.Errorf("%s: got an import of %s, directly or through another, want none", path, dep)
			}
		}
		for _, dep := range p.Imports {
			if strings.HasPrefix(dep, "go.uber.org/fx") && layer != "bootstrap" {
				t.Errorf("%s: got an import of fx, want none outside bootstrap", path)
			}
		}
	}
	for _, layer := range []string{"domain", "application", "adapters", "bootstrap"} {
		if !layers[layer] {
			t.Errorf("got no package of the layer %s, want some", layer)
		}
	}
}

// isInterface reports whether a package talks to users, or is a library of one that does. A worker that imports the use
// cases must get none of them into its binary.
func isInterface(importPath string) bool {
	for _, root := range []string{
		module + "adapters/httpapi", module + "adapters/cli", module + "adapters/client", module + "adapters/metrics",
		module + "adapters/pages", module + "adapters/tracing", module + "adapters/signin", module + "adapters/passwords",
		module + "adapters/passkeys", "github.com/go-webauthn", module + "adapters/mcp", "github.com/modelcontextprotocol",
		"golang.org/x/crypto/argon2", "github.com/ccojocar/zxcvbn-go",
		"golang.org/x/oauth2", "github.com/coreos/go-oidc",
		"github.com/gin-gonic", "github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/prometheus",
		"go.opentelemetry.io",
	} {
		if importPath == root || strings.HasPrefix(importPath, root+"/") {
			return true
		}
	}
	return false
}

// pureStandard reports whether a package belongs to the standard library and is not reserved for adapters.
func pureStandard(p goPackage) bool {
	return p.Standard && p.ImportPath != "net/http" && p.ImportPath != "database/sql"
}

// TestTags keeps struct tags, which describe the shapes of adapters, out of the layers below.
func TestTags(t *testing.T) {
	t.Parallel()
	files := 0
	for _, layer := range []string{"domain", "application"} {
		err := filepath.WalkDir(filepath.Join("../..", layer), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") {
				return err
			}
			files++
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(node ast.Node) bool {
				if field, ok := node.(*ast.Field); ok && field.Tag != nil {
					t.Errorf("%s: got a struct tag, want none", set.Position(field.Pos()))
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files == 0 {
		t.Error("got no files, want some")
	}
}

func TestTopLevel(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("git", "ls-files")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Skip("not a git checkout")
	}
	allowed := []string{
		"domain", "application", "adapters", "bootstrap", "tests", "docs",
		"go.mod", "go.sum", "Makefile", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md",
		"Dockerfile", "compose.yaml",
	}
	for file := range strings.FieldsSeq(string(out)) {
		if top, _, _ := strings.Cut(file, "/"); !strings.HasPrefix(top, ".") && !slices.Contains(allowed, top) {
			t.Errorf("got %s at the top level, want only %v", top, allowed)
		}
	}
}
