// Package template executes templates of html/template and writes the same bytes, without text/template: that looks methods up by
// names that only a running program knows, for which the linker keeps every exported method of every type (decision 0059).
//
// Its names are html/template's, of which it has what pages need. A value may stand in text, in links, and in quoted attributes that are
// text; in scripts, styles, comments and names it is an error of parsing, as are templates that begin or end inside a tag, "break" and
// "continue". Methods are those that function method names.
package template

import (
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"maps"
	"path"
	"reflect"
	"slices"
	"text/template/parse"
)

// FuncMap has functions of one result, by the names that templates call them by.
type FuncMap = template.FuncMap

// Template is templates that may refer to each other. Once they are parsed, it is safe for concurrent use.
type Template struct {
	trees    map[string]*parse.Tree
	funcs    map[string]reflect.Value
	escapers map[*parse.ActionNode]escaper
}

// New returns no templates yet. Of its name, which html/template wants, nothing is kept.
func New(_ string) *Template {
	return &Template{
		trees: make(map[string]*parse.Tree), funcs: make(map[string]reflect.Value), escapers: make(map[*parse.ActionNode]escaper),
	}
}

// Must returns the templates, and panics if there is an error: those that are part of a program have none.
func Must(t *Template, err error) *Template {
	if err != nil {
		panic(err)
	}
	return t
}

// Funcs adds functions for the files that are parsed next.
func (t *Template) Funcs(functions FuncMap) *Template {
	for name, f := range functions {
		t.funcs[name] = reflect.ValueOf(f)
	}
	return t
}

// ParseFS reads the files that match the pattern. Each is a template with its base name, and may define others.
func (t *Template) ParseFS(files fs.FS, pattern string) (*Template, error) {
	names, err := fs.Glob(files, pattern)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := t.parse(files, name); err != nil {
			return nil, err
		}
	}
	for _, tree := range t.trees {
		if err := t.contextualize(tree); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *Template) parse(files fs.FS, name string) error {
	content, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	known := make(map[string]any)
	for _, function := range slices.Concat(slices.Collect(maps.Keys(builtins)), slices.Collect(maps.Keys(t.funcs))) {
		known[function] = true
	}
	trees, err := parse.Parse(path.Base(name), string(content), "", "", known)
	if err != nil {
		return err
	}
	for defined, tree := range trees {
		if t.trees[defined] != nil {
			return fmt.Errorf("template %s is defined twice", defined)
		}
		t.trees[defined] = tree
	}
	return nil
}

// ExecuteTemplate writes the template of that name with its data. When it fails, it may have written some of it.
func (t *Template) ExecuteTemplate(w io.Writer, name string, data any) (err error) {
	e := &execution{of: t, to: w}
	defer e.recovered(name, &err)
	e.template(name, reflect.ValueOf(data))
	return nil
}

// failure is an error on its way out of an execution.
type failure struct{ error }

func (e *execution) recovered(name string, err *error) {
	switch thrown := recover().(type) {
	case nil:
	case failure:
		*err = fmt.Errorf("template %s: %w", name, thrown.error)
	default:
		panic(thrown)
	}
}

func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

func fail(format string, values ...any) { panic(failure{fmt.Errorf(format, values...)}) }

// execution is one of a template. Variables are scoped by the length of their list.
type execution struct {
	of        *Template
	to        io.Writer
	variables []variable
	depth     int
}

type variable struct {
	name  string
	value reflect.Value
}

// maxDepth is how deep templates may call each other.
const maxDepth = 100

func (e *execution) template(name string, dot reflect.Value) {
	tree := e.of.trees[name]
	if tree == nil {
		fail("there is no template %s", name)
	}
	if e.depth++; e.depth > maxDepth {
		fail("too many templates call each other")
	}
	outer := e.variables
	e.variables = []variable{{"$", dot}}
	e.list(dot, tree.Root)
	e.variables = outer
	e.depth--
}

func (e *execution) list(dot reflect.Value, list *parse.ListNode) {
	if list == nil {
		return
	}
	for _, node := range list.Nodes {
		e.node(dot, node)
	}
}

func (e *execution) node(dot reflect.Value, node parse.Node) {
	switch node := node.(type) {
	case *parse.TextNode:
		_, err := e.to.Write(node.Text)
		check(err)
	case *parse.ActionNode:
		value := e.pipeline(dot, node.Pipe)
		if len(node.Pipe.Decl) == 0 {
			_, err := io.WriteString(e.to, e.of.escapers[node](value))
			check(err)
		}
	case *parse.IfNode:
		e.branch(dot, &node.BranchNode, false)
	case *parse.WithNode:
		e.branch(dot, &node.BranchNode, true)
	case *parse.RangeNode:
		e.rangeOver(dot, node)
	case *parse.TemplateNode:
		var data reflect.Value
		if node.Pipe != nil {
			data = e.pipeline(dot, node.Pipe)
		}
		e.template(node.Name, data)
	default:
		fail("%s is not known here", node)
	}
}

// branch executes {{if}}, or {{with}}, whose list has the value as its dot.
func (e *execution) branch(dot reflect.Value, node *parse.BranchNode, with bool) {
	outer := len(e.variables)
	value := e.pipeline(dot, node.Pipe)
	switch {
	case !truth(value):
		e.list(dot, node.ElseList)
	case with:
		e.list(value, node.List)
	default:
		e.list(dot, node.List)
	}
	e.variables = e.variables[:outer]
}

func (e *execution) rangeOver(dot reflect.Value, node *parse.RangeNode) {
	outer := len(e.variables)
	value := indirect(e.value(dot, node.Pipe))
	switch value.Kind() {
	case reflect.Slice, reflect.Array:
	default:
		fail("%s is not a list", node.Pipe)
	}
	if value.Len() == 0 {
		e.list(dot, node.ElseList)
	}
	for i := range value.Len() {
		switch declared := node.Pipe.Decl; len(declared) {
		case 1:
			e.variables = append(e.variables, variable{declared[0].Ident[0], value.Index(i)})
		case 2:
			e.variables = append(e.variables, variable{declared[0].Ident[0], reflect.ValueOf(i)}, variable{declared[1].Ident[0], value.Index(i)})
		}
		e.list(value.Index(i), node.List)
		e.variables = e.variables[:outer]
	}
}

// pipeline returns the value of a pipeline, and declares the variables that it does.
func (e *execution) pipeline(dot reflect.Value, pipe *parse.PipeNode) reflect.Value {
	value := e.value(dot, pipe)
	for _, declared := range pipe.Decl {
		if !pipe.IsAssign {
			e.variables = append(e.variables, variable{declared.Ident[0], value})
			continue
		}
		e.variables[e.find(declared.Ident[0])].value = value
	}
	return value
}

func (e *execution) value(dot reflect.Value, pipe *parse.PipeNode) (value reflect.Value) {
	for i, command := range pipe.Cmds {
		var last []reflect.Value
		if i > 0 {
			last = []reflect.Value{value}
		}
		value = open(e.command(dot, command, last))
	}
	return value
}

func (e *execution) find(name string) int {
	i := slices.IndexFunc(e.variables, func(v variable) bool { return v.name == name })
	for j := i + 1; j < len(e.variables); j++ { // the innermost one
		if e.variables[j].name == name {
			i = j
		}
	}
	return i
}

// command returns the value of a command, to whose arguments those that come through the pipe are added.
func (e *execution) command(dot reflect.Value, command *parse.CommandNode, last []reflect.Value) reflect.Value {
	arguments := func() []reflect.Value {
		var all []reflect.Value
		for _, node := range command.Args[1:] {
			all = append(all, e.argument(dot, node))
		}
		return append(all, last...)
	}
	switch first := command.Args[0].(type) {
	case *parse.FieldNode:
		return e.chain(dot, first.Ident, arguments)
	case *parse.VariableNode:
		return e.chain(e.variables[e.find(first.Ident[0])].value, first.Ident[1:], arguments)
	case *parse.ChainNode:
		return e.chain(e.argument(dot, first.Node), first.Field, arguments)
	case *parse.IdentifierNode:
		if function, ok := e.of.funcs[first.Ident]; ok {
			return call(first.Ident, function, arguments())
		}
		if first.Ident == "and" || first.Ident == "or" {
			return e.firstThat(dot, command.Args[1:], first.Ident == "or")
		}
		return builtins[first.Ident](arguments())
	}
	if len(command.Args) > 1 || last != nil {
		fail("%s takes no arguments", command.Args[0])
	}
	return e.argument(dot, command.Args[0])
}

// firstThat returns the first value that is as wanted, or the last one. Those after it are not looked at.
func (e *execution) firstThat(dot reflect.Value, nodes []parse.Node, wanted bool) (value reflect.Value) {
	for _, node := range nodes {
		if value = open(e.argument(dot, node)); truth(value) == wanted {
			break
		}
	}
	return value
}

func (e *execution) argument(dot reflect.Value, node parse.Node) reflect.Value {
	switch node := node.(type) {
	case *parse.DotNode:
		return dot
	case *parse.PipeNode:
		return e.value(dot, node)
	case *parse.StringNode:
		return reflect.ValueOf(node.Text)
	case *parse.BoolNode:
		return reflect.ValueOf(node.True)
	case *parse.NumberNode:
		if node.IsInt {
			return reflect.ValueOf(int(node.Int64))
		}
	case *parse.FieldNode, *parse.VariableNode, *parse.ChainNode, *parse.IdentifierNode:
		return e.command(dot, &parse.CommandNode{Args: []parse.Node{node}}, nil)
	}
	fail("%s is not known here", node)
	return reflect.Value{}
}

// chain follows fields and methods. The arguments are those of the last one.
func (e *execution) chain(value reflect.Value, names []string, arguments func() []reflect.Value) reflect.Value {
	for i, name := range names {
		var given []reflect.Value
		if i == len(names)-1 {
			given = arguments()
		}
		value = e.member(open(value), name, given)
	}
	return value
}

func (e *execution) member(value reflect.Value, name string, arguments []reflect.Value) reflect.Value {
	if !value.IsValid() {
		fail("nothing has %s", name)
	}
	receiver := value
	if receiver.Kind() != reflect.Pointer && receiver.CanAddr() {
		receiver = receiver.Addr()
	}
	if found := method(receiver, name); found.IsValid() {
		return call(name, found, arguments)
	}
	if len(arguments) > 0 {
		fail("%s has no method %s that templates may call", value.Type(), name)
	}
	switch value = indirect(value); value.Kind() {
	case reflect.Invalid:
		fail("nothing has %s", name)
	case reflect.Struct:
		if field, ok := value.Type().FieldByName(name); ok && field.IsExported() {
			found, err := value.FieldByIndexErr(field.Index)
			check(err)
			return found
		}
	case reflect.Map:
		if found := value.MapIndex(reflect.ValueOf(name)); found.IsValid() {
			return found
		}
		return reflect.Zero(value.Type().Elem())
	}
	fail("%s has no field %s, and no method of that name that templates may call", value.Type(), name)
	return reflect.Value{}
}

// call calls a function or method of one result.
func call(name string, function reflect.Value, arguments []reflect.Value) reflect.Value {
	of := function.Type()
	if of.IsVariadic() || of.NumIn() != len(arguments) || of.NumOut() != 1 {
		fail("%s is called with %d arguments: it is %s", name, len(arguments), of)
	}
	for i, argument := range arguments {
		argument = open(argument)
		if !argument.IsValid() || !argument.Type().AssignableTo(of.In(i)) {
			fail("argument %d of %s is not of type %s", i+1, name, of.In(i))
		}
		arguments[i] = argument
	}
	return function.Call(arguments)[0]
}

// open returns what is in an interface.
func open(value reflect.Value) reflect.Value {
	if value.Kind() == reflect.Interface {
		return value.Elem()
	}
	return value
}

// indirect returns what is behind interfaces and pointers.
func indirect(value reflect.Value) reflect.Value {
	for value.Kind() == reflect.Pointer || value.Kind() == reflect.Interface {
		value = value.Elem()
	}
	return value
}

func truth(value reflect.Value) bool {
	if !value.IsValid() {
		return false
	}
	is, _ := template.IsTrue(value.Interface())
	return is
}
