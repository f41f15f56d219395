package bootstrap

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"go.uber.org/fx"
)

// trace records the functions of hooks that run.
type trace struct{ calls []string }

func (r *trace) run(name string, err error) func() error {
	return func() error {
		r.calls = append(r.calls, name)
		return err
	}
}

// opens returns a constructor that opens something, and starts another part of it in a hook.
func (r *trace) opens(name string, start error) func(fx.Lifecycle) {
	return func(lifecycle fx.Lifecycle) {
		lifecycle.Append(fx.StopHook(r.run("close "+name, nil)))
		lifecycle.Append(fx.StartStopHook(r.run("start "+name, start), r.run("stop "+name, nil)))
	}
}

func TestStart(t *testing.T) {
	t.Parallel()
	failure := errors.New("it failed")
	for name, c := range map[string]struct {
		options func(r *trace, cancel func()) []fx.Option
		err     string // empty for no error
		want    []string
	}{
		"it starts, and stops in the opposite order": {
			func(r *trace, _ func()) []fx.Option {
				return []fx.Option{fx.Invoke(r.opens("a", nil), r.opens("b", nil))}
			},
			"", []string{"start a", "start b", "stop b", "close b", "stop a", "close a"},
		},
		"a hook fails": {
			func(r *trace, _ func()) []fx.Option {
				return []fx.Option{fx.Invoke(r.opens("a", nil), r.opens("b", failure), r.opens("c", nil))}
			},
			"it failed", []string{"start a", "start b", "close c", "close b", "stop a", "close a"},
		},
		"it is cancelled during a hook that succeeds": {
			func(r *trace, cancel func()) []fx.Option {
				return []fx.Option{fx.Invoke(r.opens("a", nil),
					func(lifecycle fx.Lifecycle) { lifecycle.Append(fx.StartHook(cancel)) }, r.opens("b", nil))}
			},
			"context canceled", []string{"start a", "close b", "stop a", "close a"},
		},
		"it cannot be built": {
			func(r *trace, _ func()) []fx.Option {
				return []fx.Option{fx.Invoke(r.opens("a", nil), r.opens("b", nil), func() error { return failure })}
			},
			"it failed", []string{"close b", "close a"},
		},
		"a part is missing": {
			func(r *trace, _ func()) []fx.Option {
				return []fx.Option{fx.Invoke(r.opens("a", nil), func(*Application) {})}
			},
			"missing type: *bootstrap.Application", []string{"close a"},
		},
		"an option is wrong": {
			func(r *trace, _ func()) []fx.Option {
				return []fx.Option{fx.Error(failure), fx.Invoke(r.opens("a", nil))}
			},
			"it failed", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r := new(trace)
			stop, err := Start(ctx, append(c.options(r, cancel), fx.NopLogger)...)
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %v, want %q", err, c.err)
			}
			if err == nil {
				cancel() // as a deferred stop often gets a context that has ended
				for range 2 {
					if err := stop(ctx); err != nil {
						t.Errorf("the stop: got %v, want no error", err)
					}
				}
			}
			if !slices.Equal(r.calls, c.want) {
				t.Errorf("got the hooks %q, want %q", r.calls, c.want)
			}
		})
	}
}
