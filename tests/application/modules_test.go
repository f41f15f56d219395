package application

import (
	"reflect"
	"testing"
	"time"

	"github.com/gluepot/gluepot/application/imports"
	"github.com/gluepot/gluepot/application/languages"
)

// TestModulesAreComplete looks at every use case that a module lists: New may have forgotten one.
func TestModulesAreComplete(t *testing.T) {
	t.Parallel()
	w := newWorld()
	for _, module := range []any{
		w.users, w.tokens, w.accounts, w.pastes, w.stats, w.search,
		imports.New(w.userStore, w.tokenStore, w.pasteStore, time.Now), languages.New(tongues{}),
	} {
		useCases := reflect.ValueOf(module).Elem()
		if useCases.NumField() == 0 {
			t.Errorf("%T: got no use case, want at least one", module)
		}
		for i := range useCases.NumField() {
			wantComplete(t, useCases.Type().String()+"."+useCases.Type().Field(i).Name, useCases.Field(i))
		}
	}
}

// wantComplete fails when a use case, or one of the ports and functions that it holds, is missing.
func wantComplete(t *testing.T, name string, useCase reflect.Value) {
	t.Helper()
	if useCase.IsNil() {
		t.Errorf("%s: got nil, want a use case", name)
		return
	}
	wantFields(t, name, useCase.Elem())
}

// wantFields looks at what a use case holds, and into the plain structs among that, such as the rules of pastes.
func wantFields(t *testing.T, name string, holder reflect.Value) {
	t.Helper()
	for i := range holder.NumField() {
		within := name + "." + holder.Type().Field(i).Name
		switch field := holder.Field(i); field.Kind() {
		case reflect.Interface, reflect.Func, reflect.Pointer:
			if field.IsNil() {
				t.Errorf("%s: got none, want one", within)
			}
		case reflect.Struct:
			if field.Type() != reflect.TypeFor[time.Time]() { // a time may lack its place
				wantFields(t, within, field)
			}
		}
	}
}
