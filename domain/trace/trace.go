// Package trace lets an observer of a process follow what is done for a request. As with net/http/httptrace, the one who
// begins puts a Tracer into the context; use cases report to it without knowing where that goes.
package trace

import "context"

// Tracer is told of what is done, by many goroutines at once. It must be quick, and must not panic.
type Tracer interface {
	// Start says that what has that name begins, as part of what ctx is for. It returns the context of its parts, and what
	// to call at its end, with its error.
	Start(ctx context.Context, name string) (context.Context, func(error))
}

type tracerKey struct{}

// With returns a context whose work t is told of.
func With(ctx context.Context, t Tracer) context.Context {
	return context.WithValue(ctx, tracerKey{}, t)
}

// Start tells the Tracer of a context, if it has one: see Tracer. Names are those of use cases, such as "users.Show", and never
// what a client has sent. Without a Tracer nothing is allocated.
func Start(ctx context.Context, name string) (context.Context, func(error)) {
	if t, ok := ctx.Value(tracerKey{}).(Tracer); ok {
		return t.Start(ctx, name)
	}
	return ctx, ignore
}

func ignore(error) {}
