// Package tracing sends OpenTelemetry traces of requests, use cases and statements to a collector, if the variables that
// OpenTelemetry defines for that name one.
package tracing

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	otel "go.opentelemetry.io/otel/trace"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/trace"
)

// Tracer makes a span of each request, each use case and each statement. Names and attributes are those of OpenTelemetry's
// semantic conventions for HTTP and databases, less whatever clients have sent: no path, query, header or value.
type Tracer struct {
	provider *sdk.TracerProvider
	spans    otel.Tracer
	callers  propagation.TextMapPropagator // reads the span that a request is part of
}

var _ trace.Tracer = (*Tracer)(nil)

func newTracer(provider *sdk.TracerProvider, callers propagation.TextMapPropagator) *Tracer {
	return &Tracer{provider: provider, spans: provider.Tracer("github.com/gluepot/gluepot"), callers: callers}
}

// otherMethod is the convention's for methods that HTTP does not define.
const otherMethod = "_OTHER"

// RequestBegan begins the span of a request with a method, or "other", and a route such as /paste/:id, or "" for those
// that no route takes. A header that may be believed says which span it is part of (W3C Trace Context); nil: that is not asked.
// It returns the request's context, in which use cases and statements become parts of it, and the id of the trace.
func (t *Tracer) RequestBegan(ctx context.Context, method, route, scheme string, header http.Header) (context.Context, string) {
	if header != nil {
		ctx = t.callers.Extract(ctx, propagation.HeaderCarrier(header))
	}
	name := method
	if method == "other" {
		name, method = "HTTP", otherMethod
	}
	attributes := []attribute.KeyValue{attribute.String("http.request.method", method), attribute.String("url.scheme", scheme)}
	if route != "" {
		name += " " + route
		attributes = append(attributes, attribute.String("http.route", route))
	}
	ctx, span := t.spans.Start(ctx, name, otel.WithSpanKind(otel.SpanKindServer), otel.WithAttributes(attributes...))
	return trace.With(ctx, t), span.SpanContext().TraceID().String()
}

// RequestEnded ends the span of the request that has that context.
func (t *Tracer) RequestEnded(ctx context.Context, status int) {
	span := otel.SpanFromContext(ctx)
	span.SetAttributes(attribute.Int("http.response.status_code", status))
	if status >= http.StatusInternalServerError {
		fail(span, strconv.Itoa(status))
	}
	span.End()
}

// Start implements trace.Tracer: it begins the span of a use case.
func (t *Tracer) Start(ctx context.Context, name string) (context.Context, func(error)) {
	ctx, span := t.spans.Start(ctx, name)
	return ctx, func(err error) {
		switch kind := fault.KindOf(err); kind {
		case fault.None:
		case fault.Internal, fault.Unavailable:
			fail(span, kind.String())
		default: // what somebody asked for cannot be: no failure of ours
			span.SetAttributes(errorType(kind.String()))
		}
		span.End()
	}
}

type (
	// statementKey is that of a statement's span in its context.
	statementKey struct{}
	// servedKey is that of what a merged statement serves.
	servedKey struct{}
	served    struct {
		callers int
		spans   []otel.Span // of the callers whose traces are kept
	}
)

// Merged returns ctx for a statement that is run for all who wait with the others.
func (t *Tracer) Merged(ctx context.Context, callers []context.Context) context.Context {
	var spans []otel.Span
	for _, each := range callers {
		if span := otel.SpanFromContext(each); span.SpanContext().IsSampled() {
			spans = append(spans, span)
		}
	}
	if len(spans) == 0 {
		return ctx
	}
	// It is part of the first, so that it is kept or left out as that is.
	return context.WithValue(otel.ContextWithSpan(ctx, spans[0]), servedKey{}, served{len(callers), spans})
}

// StatementBegan begins the span of a statement that is part of something else; those of nobody's, such as the
// watcher's of replicas, have none. It returns the context for StatementEnded.
func (t *Tracer) StatementBegan(ctx context.Context, system, summary string) context.Context {
	if !otel.SpanContextFromContext(ctx).IsValid() {
		return ctx
	}
	operation, _, _ := strings.Cut(summary, " ")
	merged, _ := ctx.Value(servedKey{}).(served)
	links := make([]otel.Link, len(merged.spans))
	for i, span := range merged.spans {
		links[i].SpanContext = span.SpanContext()
	}
	attributes := []attribute.KeyValue{
		attribute.String("db.system.name", system), attribute.String("db.operation.name", operation),
		attribute.String("db.query.summary", summary),
	}
	if merged.callers > 0 {
		attributes = append(attributes, attribute.Int("gluepot.statement.served", merged.callers))
	}
	ctx, span := t.spans.Start(ctx, summary,
		otel.WithSpanKind(otel.SpanKindClient), otel.WithLinks(links...), otel.WithAttributes(attributes...))
	for _, waiting := range merged.spans { // so that it is found from each of them
		waiting.AddLink(otel.Link{SpanContext: span.SpanContext()})
	}
	return context.WithValue(ctx, statementKey{}, span)
}

// StatementEnded ends the span of the statement that has that context. The failure is a code or a word; empty: none.
func (t *Tracer) StatementEnded(ctx context.Context, failure string) {
	span, ok := ctx.Value(statementKey{}).(otel.Span)
	if !ok {
		return
	}
	if failure != "" {
		fail(span, failure)
	}
	span.End()
}

// fail says why without the text of an error, which may have values in it.
func fail(span otel.Span, why string) {
	span.SetStatus(codes.Error, "")
	span.SetAttributes(errorType(why))
}

func errorType(name string) attribute.KeyValue {
	return attribute.String("error.type", strings.ReplaceAll(strings.ToLower(name), " ", "_"))
}
