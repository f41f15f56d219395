package template

import (
	"cmp"
	"fmt"
	"reflect"
)

// builtins are functions of text/template. What "and" and "or" do is in execution.firstThat.
var builtins = map[string]func(arguments []reflect.Value) reflect.Value{
	"and": nil,
	"or":  nil,
	"not": func(arguments []reflect.Value) reflect.Value {
		return reflect.ValueOf(!truth(one("not", arguments)))
	},
	"len": func(arguments []reflect.Value) reflect.Value {
		value := indirect(one("len", arguments))
		switch value.Kind() {
		case reflect.String, reflect.Slice, reflect.Array, reflect.Map:
			return reflect.ValueOf(value.Len())
		}
		fail("%s has no length", value.Kind())
		return reflect.Value{}
	},
	"print": func(arguments []reflect.Value) reflect.Value {
		values := make([]any, len(arguments))
		for i, argument := range arguments {
			values[i] = printable(argument)
		}
		return reflect.ValueOf(fmt.Sprint(values...))
	},
	"eq": func(arguments []reflect.Value) reflect.Value {
		if len(arguments) < 2 {
			fail("eq takes two values or more")
		}
		for _, other := range arguments[1:] {
			if compare(arguments[0], other) == 0 {
				return reflect.ValueOf(true)
			}
		}
		return reflect.ValueOf(false)
	},
	"ne": comparison(func(order int) bool { return order != 0 }),
	"lt": comparison(func(order int) bool { return order < 0 }),
	"le": comparison(func(order int) bool { return order <= 0 }),
	"gt": comparison(func(order int) bool { return order > 0 }),
	"ge": comparison(func(order int) bool { return order >= 0 }),
}

func one(name string, arguments []reflect.Value) reflect.Value {
	if len(arguments) != 1 {
		fail("%s takes one value", name)
	}
	return arguments[0]
}

func comparison(holds func(order int) bool) func(arguments []reflect.Value) reflect.Value {
	return func(arguments []reflect.Value) reflect.Value {
		if len(arguments) != 2 {
			fail("a comparison takes two values")
		}
		return reflect.ValueOf(holds(compare(arguments[0], arguments[1])))
	}
}

// compare orders two integers, two texts, or two truth values.
func compare(a, b reflect.Value) int {
	a, b = indirect(a), indirect(b)
	switch {
	case a.CanInt() && b.CanInt():
		return cmp.Compare(a.Int(), b.Int())
	case a.Kind() == reflect.String && b.Kind() == reflect.String:
		return cmp.Compare(a.String(), b.String())
	case a.Kind() == reflect.Bool && b.Kind() == reflect.Bool:
		if a.Bool() == b.Bool() {
			return 0
		}
		return 1
	}
	fail("%s and %s cannot be compared", a.Kind(), b.Kind())
	return 0
}

// printable returns a value as package fmt prints it as text: what is behind pointers, unless it says itself how it is printed.
func printable(value reflect.Value) any {
	for value.IsValid() && (value.Kind() == reflect.Pointer || value.Kind() == reflect.Interface) && !value.IsNil() {
		switch value.Interface().(type) {
		case fmt.Stringer, error:
			return value.Interface()
		}
		value = value.Elem()
	}
	if !value.IsValid() {
		return ""
	}
	return value.Interface()
}
