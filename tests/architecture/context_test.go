package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestContextValues keeps the inputs of rules out of contexts: a value that a caller forgets is missing there without
// an error.
func TestContextValues(t *testing.T) {
	t.Parallel()
	for _, layer := range []string{"domain", "application", "adapters/gormstore"} {
		files := 0
		err := filepath.WalkDir(filepath.Join("../..", layer), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files++
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, at := range contextValues(file) {
				t.Errorf("%s: got a context value, want an argument", set.Position(at))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if files == 0 {
			t.Errorf("%s: got no files, want some", layer)
		}
	}
}

// contextValues returns the positions where a file writes or reads context values. A method Value with one argument is
// a context's: that of driver.Valuer has none.
func contextValues(file *ast.File) (positions []token.Pos) {
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.SelectorExpr:
			if of, ok := node.X.(*ast.Ident); ok && of.Name == "context" && node.Sel.Name == "WithValue" {
				positions = append(positions, node.Pos())
			}
		case *ast.CallExpr:
			method, ok := node.Fun.(*ast.SelectorExpr)
			if ok && method.Sel.Name == "Value" && len(node.Args) == 1 {
				positions = append(positions, node.Pos())
			}
		}
		return true
	})
	return positions
}

// TestContextValuesAreFound shows that TestContextValues can fail.
func TestContextValuesAreFound(t *testing.T) {
	t.Parallel()
	const source = `package x
func in(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, 1) }
func out(ctx context.Context) any { return ctx.Value(key{}) }
func column(text model.Text) (any, error) { return text.Value() }`
	file, err := parser.ParseFile(token.NewFileSet(), "x.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if got := contextValues(file); len(got) != 2 {
		t.Errorf("got %d positions, want 2", len(got))
	}
}
