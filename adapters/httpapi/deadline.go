package httpapi

import (
	"context"
	"sync/atomic"
	"time"
)

// deadlines gives requests a context that ends a fixed time after they began. Requests that begin at about the
// same time share one timer: a timer for each was a tenth of the work of a request (decision 0014).
type deadlines struct {
	timeout time.Duration
	latest  atomic.Pointer[sharedDeadline]
}

// sharedDeadline is the context of the requests that begin before a moment.
type sharedDeadline struct {
	context.Context //nolint:containedctx // it is the part of a context that requests have in common

	closed time.Time
}

// sharing is the part of the timeout within which requests share a timer: their deadline is up to that much
// early, and never late.
const sharing = 100

// context returns one with a deadline and the values of a request's context. A client that goes away does
// not end it: what it asked for takes no longer than the timeout, while giving up a statement half-way costs a
// connection to the database, which clients could use up. Server ends it when connections are short (decision 0030).
//
// A request that has a deadline already, from a middleware of whoever mounts the interface, keeps it, and ends
// when that middleware says so.
func (d *deadlines) context(request context.Context) (context.Context, context.CancelFunc) {
	if _, ok := request.Deadline(); ok {
		return context.WithTimeout(request, d.timeout)
	}
	now := time.Now()
	shared := d.latest.Load()
	if shared == nil || now.After(shared.closed) {
		ctx, cancel := context.WithDeadline(context.Background(), now.Add(d.timeout))
		context.AfterFunc(ctx, cancel) // nobody ends it early
		shared = &sharedDeadline{Context: ctx, closed: now.Add(d.timeout / sharing)}
		d.latest.Store(shared)
	}
	return &requestContext{Context: shared.Context, values: request}, func() {} // others share it
}

// requestContext is a shared deadline with a request's values.
type requestContext struct {
	context.Context //nolint:containedctx // the deadline

	values context.Context //nolint:containedctx // of the request
}

// Value implements context.Context. The deadline is asked first because package context finds a parent's
// list of children in this way; it has no values of its own.
func (c *requestContext) Value(key any) any {
	if value := c.Context.Value(key); value != nil {
		return value
	}
	return c.values.Value(key)
}
