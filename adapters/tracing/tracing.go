// Package tracing sends OpenTelemetry traces of requests and statements to a collector, if OpenTelemetry's own
// variables name one.
package tracing

import (
	"context"
	"slices"
	"strings"

	"github.com/exaring/otelpgx"
	"github.com/gin-gonic/gin"
	"github.com/jackc/pgx/v5"
	"go.opentelemetry.io/contrib/instrumentation/github.com/gin-gonic/gin/otelgin"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	otel "go.opentelemetry.io/otel/trace"
)

// Tracer makes a span for each request and each statement on PostgreSQL. Names and attributes follow OpenTelemetry's
// semantic conventions for HTTP and databases, without what clients send (publicAttributes). A nil Tracer makes none.
type Tracer struct{ provider *sdk.TracerProvider }

// Middleware returns gin's middleware that makes a span for each request, the parent of those of its statements. It
// stores the id of the trace in gin's context, under traceKey. route returns the request's route, such as /paste/:id,
// or "" if no route matches. Routes in untraced get no span. The request's method, which a span's name has, must be one
// that clients cannot invent.
func (t *Tracer) Middleware(traceKey string, route func(*gin.Context) string, untraced ...string) []gin.HandlerFunc {
	if t == nil {
		return nil
	}
	requests := otelgin.Middleware("gluepot", otelgin.WithTracerProvider(t.provider),
		otelgin.WithPropagators(propagation.TraceContext{}),
		otelgin.WithGinFilter(func(c *gin.Context) bool { return !slices.Contains(untraced, route(c)) }),
		otelgin.WithSpanNameFormatter(func(c *gin.Context) string {
			return strings.TrimSpace(c.Request.Method + " " + route(c))
		}))
	return []gin.HandlerFunc{requests, func(c *gin.Context) {
		if span := otel.SpanFromContext(c.Request.Context()); span.SpanContext().IsValid() {
			span.SetAttributes(attribute.String("http.route", route(c))) // otelgin knows gin's routes alone
			c.Set(traceKey, span.SpanContext().TraceID().String())
		}
	}}
}

// Statements returns the tracer that makes a span for each statement on PostgreSQL within another span. On SQLite,
// which runs in the same process, the span of the request is enough.
func (t *Tracer) Statements() pgx.QueryTracer {
	if t == nil {
		return nil
	}
	statements := otelpgx.NewTracer(otelpgx.WithTracerProvider(t.provider), otelpgx.WithDisableSQLStatementInAttributes(),
		otelpgx.WithDisableConnectionDetailsInAttributes())
	return struct { // hides what else it can trace
		pgx.QueryTracer
		pgx.BatchTracer
	}{statements, statements}
}

// publicAttributes are the only attributes that leave the process. OpenTelemetry's libraries record more: paths, which
// hold the ids of unlisted pastes, and addresses and headers of clients.
var publicAttributes = []attribute.Key{
	"http.request.method", "http.route", "http.response.status_code", "url.scheme", "error.type",
	"db.system.name", "pgx.rows_affected", "pgx.sql_state",
}

// publicExporter exports spans without what may be secret. It also leaves out events and descriptions of errors,
// because databases quote values in them.
type publicExporter struct{ sdk.SpanExporter }

func (e publicExporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	public := make([]sdk.ReadOnlySpan, len(spans))
	for i, span := range spans {
		public[i] = publicSpan{span}
	}
	return e.SpanExporter.ExportSpans(ctx, public)
}

type publicSpan struct{ sdk.ReadOnlySpan }

func (s publicSpan) Attributes() []attribute.KeyValue {
	return slices.DeleteFunc(slices.Clone(s.ReadOnlySpan.Attributes()), func(a attribute.KeyValue) bool {
		return !slices.Contains(publicAttributes, a.Key)
	})
}

func (s publicSpan) Events() []sdk.Event { return nil }

func (s publicSpan) Status() sdk.Status { return sdk.Status{Code: s.ReadOnlySpan.Status().Code} }
