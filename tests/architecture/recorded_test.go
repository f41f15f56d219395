package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRecordedWrites checks that recordedWrites in tests/contract calls each method of a port that takes an entry of
// the audit log: a write that is not there may forget to check its administrator.
func TestRecordedWrites(t *testing.T) {
	t.Parallel()
	var methods []string
	eachFile(t, "../../domain", func(file *ast.File) { methods = append(methods, methodsWithEntry(file)...) })
	const cursor = "moderation.Store.Entries" // a read, after an entry
	methods = slices.DeleteFunc(methods, func(name string) bool { return name == cursor })
	var calls []string
	ports, suites := make(map[string]string), "../contract" // the ports by the fields of the suites
	eachFile(t, suites, func(file *ast.File) { storeFields(file, ports) })
	eachFile(t, suites, func(file *ast.File) { calls = append(calls, recordedCalls(file, ports)...) })
	slices.Sort(methods)
	slices.Sort(calls)
	if calls = slices.Compact(calls); !slices.Equal(methods, calls) || len(methods) == 0 {
		t.Errorf("got recordedWrites of\n%s\nwant each method that takes an auditlog.Entry:\n%s",
			strings.Join(calls, "\n"), strings.Join(methods, "\n"))
	}
}

// eachFile parses the Go files below a folder, except tests.
func eachFile(t *testing.T, folder string, visit func(*ast.File)) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err == nil {
			visit(file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// qualified returns the name of an expression such as auditlog.Entry.
func qualified(node ast.Expr) string {
	if selector, ok := node.(*ast.SelectorExpr); ok {
		if pkg, ok := selector.X.(*ast.Ident); ok {
			return pkg.Name + "." + selector.Sel.Name
		}
	}
	return ""
}

// methodsWithEntry returns the methods of a file's interfaces that take an auditlog.Entry, as package.Interface.Method.
func methodsWithEntry(file *ast.File) (names []string) {
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.TypeSpec)
		if !ok {
			return true
		}
		port, ok := spec.Type.(*ast.InterfaceType)
		if !ok {
			return true
		}
		for _, method := range port.Methods.List {
			signature, ok := method.Type.(*ast.FuncType)
			if ok && slices.ContainsFunc(signature.Params.List, func(parameter *ast.Field) bool {
				return qualified(parameter.Type) == "auditlog.Entry"
			}) {
				names = append(names, file.Name.Name+"."+spec.Name.Name+"."+method.Names[0].Name)
			}
		}
		return true
	})
	return names
}

// storeFields adds to ports the fields of a file's structs that hold stores, each with its port.
func storeFields(file *ast.File, ports map[string]string) {
	ast.Inspect(file, func(node ast.Node) bool {
		if field, ok := node.(*ast.Field); ok && strings.HasSuffix(qualified(field.Type), ".Store") {
			for _, name := range field.Names {
				ports[name.Name] = qualified(field.Type)
			}
		}
		return true
	})
}

// recordedCalls returns the methods that recordedWrites calls with an entry.
func recordedCalls(file *ast.File, ports map[string]string) (names []string) {
	for _, declaration := range file.Decls {
		function, ok := declaration.(*ast.FuncDecl)
		if !ok || function.Name.Name != "recordedWrites" {
			continue
		}
		ast.Inspect(function, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !slices.ContainsFunc(call.Args, isEntry) {
				return true
			}
			if store, ok := method.X.(*ast.SelectorExpr); ok {
				names = append(names, ports[store.Sel.Name]+"."+method.Sel.Name)
			}
			return true
		})
	}
	return names
}

// isEntry reports whether an argument is a call of the function entry.
func isEntry(argument ast.Expr) bool {
	call, ok := argument.(*ast.CallExpr)
	if !ok {
		return false
	}
	name, ok := call.Fun.(*ast.Ident)
	return ok && name.Name == "entry"
}
