package application

import (
	"reflect"
	"testing"
	"time"

	"github.com/gluepot/gluepot/application/imports"
	"github.com/gluepot/gluepot/application/moderation"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
)

// TestZeroActorMayDoNothing calls all that takes an actor with none. Each refuses before it looks at anything else.
func TestZeroActorMayDoNothing(t *testing.T) {
	t.Parallel()
	w := newWorld()
	actor, called := reflect.TypeFor[audit.Actor](), 0
	for _, useCases := range []any{
		w.users, w.tokens, w.pastes, w.search, w.stats, w.registered("open"),
		moderation.New(nil, w.userStore, nil, nil, nil, w.clock),
		imports.New(w.userStore, w.tokenStore, w.pasteStore, time.Now),
	} {
		for _, useCase := range reflect.ValueOf(useCases).Elem().Fields() {
			for j := range useCase.NumMethod() {
				method := useCase.Type().Method(j)
				if kind := method.Type; kind.NumIn() < 3 || kind.In(2) != actor {
					continue
				}
				called++
				arguments := []reflect.Value{useCase, reflect.ValueOf(t.Context())}
				for in := 2; in < method.Type.NumIn(); in++ {
					arguments = append(arguments, reflect.Zero(method.Type.In(in)))
				}
				results := method.Func.Call(arguments)
				err, _ := reflect.TypeAssert[error](results[len(results)-1])
				if !fault.Is(err, fault.Forbidden) {
					t.Errorf("%s.%s: got %v, want fault.Forbidden", useCase.Type(), method.Name, err)
				}
			}
		}
	}
	if called < 60 {
		t.Errorf("got %d methods that take an actor, want all of them", called)
	}
}
