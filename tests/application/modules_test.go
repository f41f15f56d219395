package application

import (
	"fmt"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/gluepot/gluepot/application/imports"
	"github.com/gluepot/gluepot/application/languages"
	"github.com/gluepot/gluepot/tests/modules"
)

// TestMain looks at every use case that a module lists before any test runs one: New may have forgotten it.
func TestMain(tests *testing.M) {
	m, complete := modules.New(), true
	for _, module := range []any{
		m.Users, m.Tokens, m.Accounts, m.Pastes, m.Stats, m.Search,
		imports.New(m.UserStore, m.TokenStore, m.PasteStore, time.Now), languages.New(modules.Languages{}),
	} {
		useCases := reflect.ValueOf(module).Elem()
		names := missing(useCases.Type().String(), useCases)
		for i := range useCases.NumField() {
			if useCase := useCases.Field(i); !useCase.IsNil() {
				names = append(names, missing(useCases.Type().String()+"."+useCases.Type().Field(i).Name, useCase.Elem())...)
			}
		}
		for _, name := range names {
			complete = false
			fmt.Fprintf(os.Stderr, "%s is nil, want New of %s to set it\n", name, useCases.Type().PkgPath())
		}
	}
	if !complete {
		os.Exit(1)
	}
	os.Exit(tests.Run())
}

// missing returns which fields of a struct are nil, and of the plain structs among them, such as the rules of pastes.
func missing(name string, holder reflect.Value) (names []string) {
	for i := range holder.NumField() {
		within := name + "." + holder.Type().Field(i).Name
		switch field := holder.Field(i); field.Kind() {
		case reflect.Interface, reflect.Func, reflect.Pointer:
			if field.IsNil() {
				names = append(names, within)
			}
		case reflect.Struct:
			if field.Type() != reflect.TypeFor[time.Time]() { // a time may lack its place
				names = append(names, missing(within, field)...)
			}
		}
	}
	return names
}
