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

// TestMain checks that New of each module sets every use case, before a test would run one that is nil.
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

// missing returns the names of a struct's fields that are nil. It descends into structs such as the rules of pastes.
func missing(name string, value reflect.Value) (names []string) {
	for i := range value.NumField() {
		path := name + "." + value.Type().Field(i).Name
		switch field := value.Field(i); field.Kind() {
		case reflect.Interface, reflect.Func, reflect.Pointer:
			if field.IsNil() {
				names = append(names, path)
			}
		case reflect.Struct:
			if field.Type() != reflect.TypeFor[time.Time]() { // its Location may be nil
				names = append(names, missing(path, field)...)
			}
		}
	}
	return names
}
