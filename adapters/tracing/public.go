package tracing

import (
	"context"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// publicAttributes are all that leave the process. OpenTelemetry's libraries record more: paths, which hold the ids of unlisted pastes,
// and addresses and headers of clients.
var publicAttributes = []attribute.Key{
	"http.request.method", "http.route", "http.response.status_code", "url.scheme", "error.type",
	"db.system.name", "pgx.rows_affected", "pgx.sql_state",
}

// publicExporter exports spans without what may be secret. It leaves out events and descriptions of errors, too: databases quote
// values in them.
type publicExporter struct{ sdk.SpanExporter }

// ExportSpans implements sdk.SpanExporter.
func (e publicExporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	public := make([]sdk.ReadOnlySpan, len(spans))
	for i, span := range spans {
		public[i] = publicSpan{span}
	}
	return e.SpanExporter.ExportSpans(ctx, public)
}

type publicSpan struct{ sdk.ReadOnlySpan }

// Attributes implements sdk.ReadOnlySpan.
func (s publicSpan) Attributes() []attribute.KeyValue {
	return slices.DeleteFunc(slices.Clone(s.ReadOnlySpan.Attributes()), func(a attribute.KeyValue) bool {
		return !slices.Contains(publicAttributes, a.Key)
	})
}

// Events implements sdk.ReadOnlySpan.
func (s publicSpan) Events() []sdk.Event { return nil }

// Status implements sdk.ReadOnlySpan.
func (s publicSpan) Status() sdk.Status { return sdk.Status{Code: s.ReadOnlySpan.Status().Code} }
