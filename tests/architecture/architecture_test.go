// Package architecture holds the import table of docs/ARCHITECTURE.md against the code, transitive
// imports included, and a few rules that no linter knows.
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

// listed is what "go list -deps" says of a package.
type listed struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Deps       []string
}

func list(t *testing.T) map[string]listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Standard,Imports,Deps", "./...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string]listed{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages[p.ImportPath] = p
	}
}

// parts returns the layer of one of our packages and the folder below it.
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
	seen := map[string]bool{}
	for path, p := range packages {
		if !strings.HasPrefix(path, module) {
			continue
		}
		layer, part := parts(path)
		seen[layer] = true
		if owner, _, internal := strings.Cut(path, "/internal/"); internal {
			_, ok := packages[owner]
			if shared := owner == module+"adapters"; !shared && (!ok || layer == "domain" || layer == "application") {
				t.Errorf("got the internal package %s, want those only in adapters and bootstrap: nobody could embed it",
					path)
			}
		}
		for _, imported := range p.Deps {
			ours, theirLayer, theirPart := strings.HasPrefix(imported, module), "", ""
			if ours {
				theirLayer, theirPart = parts(imported)
			}
			allowed := true
			switch layer {
			case "domain":
				allowed = ours && theirLayer == "domain" || pureStandard(packages[imported])
			case "application":
				allowed = ours && (theirLayer == "domain" || theirLayer == "application" && theirPart == part) ||
					pureStandard(packages[imported])
			case "adapters":
				if ours {
					allowed = theirLayer == "domain" || theirLayer == "application" ||
						theirLayer == "adapters" && (theirPart == part || theirPart == "internal")
				}
				allowed = allowed && !strings.HasPrefix(imported, "go.uber.org/fx")
			case "bootstrap":
				allowed = !ours || theirLayer != "tests"
				if part != "program" && part != "cmd" && part != "gluepottest" { // which only tests link
					allowed = allowed && !isInterface(imported)
				}
			}
			if strings.HasPrefix(path, module+"adapters/client") { // which speaks HTTP
				allowed = allowed && imported != "database/sql" && theirLayer != "application"
			}
			if !allowed {
				t.Errorf("%s: got an import of %s, directly or through another, want none", path, imported)
			}
		}
		for _, imported := range p.Imports {
			if strings.HasPrefix(imported, "go.uber.org/fx") && layer != "bootstrap" {
				t.Errorf("%s: got an import of fx, want none outside bootstrap", path)
			}
		}
	}
	for _, layer := range []string{"domain", "application", "adapters", "bootstrap"} {
		if !seen[layer] {
			t.Errorf("got no package of the layer %s, want some to look at", layer)
		}
	}
}

// isInterface reports whether a package is one of those that talk to users, or of the libraries that they stand on.
// What a worker imports for the use cases brings none of them into its binary.
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

// pureStandard allows the standard library less what belongs to adapters.
func pureStandard(p listed) bool {
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
		t.Error("got no file, want some to look at")
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
			t.Errorf("got %s at the top level, want %v alone", top, allowed)
		}
	}
}
