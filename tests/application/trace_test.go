package application

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/gluepot/gluepot/application/imports"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/trace"
)

// noted is a Tracer that keeps what it is told.
type noted struct {
	began []string
	ended []error
}

func (n *noted) Start(ctx context.Context, name string) (context.Context, func(error)) {
	n.began = append(n.began, name)
	return ctx, func(err error) { n.ended = append(n.ended, err) }
}

// TestUseCasesAreTraced wants every use case that takes a context to tell the Tracer in it, under its own name.
func TestUseCasesAreTraced(t *testing.T) {
	t.Parallel()
	w, seen := newWorld(), 0
	for _, module := range []any{
		w.users, w.tokens, w.pastes, w.stats, w.search, imports.New(w.userStore, w.tokenStore, w.pasteStore, time.Now),
	} {
		useCases := reflect.ValueOf(module).Elem()
		for _, useCase := range useCases.Fields() {
			do := useCase.MethodByName("Do")
			if !do.IsValid() || do.Type().NumIn() == 0 || do.Type().In(0) != reflect.TypeFor[context.Context]() {
				continue // it waits for nothing
			}
			seen++
			told := new(noted)
			callWithNothing(trace.With(t.Context(), told), do)
			name := useCase.Type().Elem().String()
			if len(told.began) == 0 || told.began[0] != name || len(told.ended) != len(told.began) {
				t.Errorf("%s: got %d ends of %v, want one for each, its own first", name, len(told.ended), told.began)
			}
		}
	}
	if seen == 0 {
		t.Error("got no use case, want some to look at")
	}
}

// callWithNothing calls a use case with a context and zero values.
func callWithNothing(ctx context.Context, do reflect.Value) {
	args := []reflect.Value{reflect.ValueOf(ctx)}
	for i := 1; i < do.Type().NumIn(); i++ {
		args = append(args, nothing(do.Type().In(i)))
	}
	do.Call(args)
}

// nothing returns a zero value, which of a function is one that returns nothing.
func nothing(of reflect.Type) reflect.Value {
	if of.Kind() != reflect.Func {
		return reflect.Zero(of)
	}
	return reflect.MakeFunc(of, func([]reflect.Value) (results []reflect.Value) {
		for out := range of.Outs() {
			results = append(results, nothing(out))
		}
		return results
	})
}

// TestTraceHasTheError wants a Tracer to hear what a use case returns, and nothing to happen without one.
func TestTraceHasTheError(t *testing.T) {
	t.Parallel()
	w, told := newWorld(), new(noted)
	_, err := w.pastes.ReadRaw.Do(trace.With(t.Context(), told), token.Viewer{}, "missing1", "x", "")
	wantKind(t, "a paste that is not there", err, fault.NotFound)
	if !slices.Equal(told.began, []string{"pastes.ReadRaw", "pastes.Read"}) || !slices.Equal(told.ended, []error{err, err}) {
		t.Errorf("got %v, which ended with %v, want ReadRaw and Read in it, both with %v", told.began, told.ended, err)
	}
}

// TestTraceOff wants nothing to be made where nobody watches.
func TestTraceOff(t *testing.T) {
	ctx := t.Context()
	made := testing.AllocsPerRun(100, func() {
		same, end := trace.Start(ctx, "nobody")
		end(nil)
		if same != ctx {
			t.Error("got another context without a Tracer, want the same")
		}
	})
	if made != 0 {
		t.Errorf("got %v allocations without a Tracer, want none", made)
	}
}
