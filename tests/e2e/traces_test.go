package e2e

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"

	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/prototext"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/collector"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// TestTraces sends requests with a caller's trace, and checks the collector's spans after the server has stopped, which
// sends them.
func TestTraces(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		traceCollector := collector.Start(t)
		p := program.Serve(t, cfg.URL, trustTests, "GLUEPOT_ADMIN_ADDR=127.0.0.1:0", "OTEL_SERVICE_NAME=the pot",
			"OTEL_EXPORTER_OTLP_ENDPOINT="+traceCollector.URL, "OTEL_BSP_SCHEDULE_DELAY=3600000")
		const (
			trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
			code          = "secret code"
		)
		headers := []string{"Authorization: " + program.EpoxyToken, "traceparent: 00-" + trace + "-" + parent + "-01",
			"tracestate: vendor=kept",
			"baggage: user=somebody"}
		for _, request := range [][]string{
			{http.MethodGet, "/paste/oldest01?x=query"},
			{http.MethodPost, "/paste", "Content-Type: application/json",
				"\n" + `{"title":"a title","pasties":[{"code":"` + code + `"}]}`},
			{http.MethodGet, "/user/somename/exists"},
			{http.MethodGet, "/healthz"},
		} {
			exchange(t, p, request[0], request[1], slices.Concat(headers, request[2:])...)
		}
		p.Signal(syscall.SIGTERM)
		if code := p.Wait(); code != 0 {
			t.Errorf("got exit code %d, want 0", code)
		}
		if line := p.WaitForLog("request"); line["trace_id"] != trace {
			t.Errorf("got %v in the access log, want the trace %s", line, trace)
		}

		spans := traceCollector.Spans()
		parentSpan, _ := hex.DecodeString(parent)
		read := wantChild(t, spans, parentSpan, "GET /paste/:id")
		if hex.EncodeToString(read.GetTraceId()) != trace || read.GetTraceState() != "vendor=kept" ||
			read.GetKind() != traces.Span_SPAN_KIND_SERVER {
			t.Errorf("got %v, want a server span in the caller's trace", read)
		}
		created := wantChild(t, spans, parentSpan, "POST /paste")
		if strings.HasPrefix(cfg.URL, "postgres") {
			wantStatement(t, spans, read, "SELECT")
			wantStatement(t, spans, created, "batch")
		}
		missing := wantChild(t, spans, parentSpan, "GET /user/:username/exists")
		if missing.GetStatus().GetCode() != traces.Status_STATUS_CODE_UNSET {
			t.Errorf("got the status %v for an unknown name, want none: it is not a failure", missing.GetStatus())
		}
		wantNoSecrets(t, traceCollector, program.EpoxyToken, code, "oldest01", "somename", "a title", "somebody",
			"x=query", "healthz")
		if sender := traceCollector.Resources()[0].GetResource(); collector.Attribute(sender.GetAttributes(),
			"service.name") != "the pot" {
			t.Errorf("got %v, want the service's name", sender)
		}
	})
}

// wantPart returns a span that is part of another and whose name is that, or begins so.
func wantChild(t *testing.T, spans []*traces.Span, parent []byte, name string) *traces.Span {
	t.Helper()
	var names []string
	for _, s := range spans {
		if bytes.Equal(s.GetParentSpanId(), parent) {
			if strings.HasPrefix(s.GetName(), name) {
				return s
			}
			names = append(names, s.GetName())
		}
	}
	t.Fatalf("got the children %q of %x, want %s", names, parent, name)
	return nil
}

// wantStatement checks that a request's span has a PostgreSQL statement as a child.
func wantStatement(t *testing.T, spans []*traces.Span, request *traces.Span, name string) {
	t.Helper()
	statement := wantChild(t, spans, request.GetSpanId(), name)
	system := collector.Attribute(statement.GetAttributes(), "db.system.name")
	if system != "postgresql" || statement.GetKind() != traces.Span_SPAN_KIND_CLIENT {
		t.Errorf("got %v, want a client span of PostgreSQL", statement)
	}
}

// wantNoSecrets checks that traces contain none of these texts.
func wantNoSecrets(t *testing.T, traceCollector *collector.Collector, secrets ...string) {
	t.Helper()
	var all strings.Builder
	for _, resource := range traceCollector.Resources() {
		fmt.Fprintln(&all, prototext.Format(resource))
	}
	for _, secret := range secrets {
		if strings.Contains(all.String(), secret) {
			t.Errorf("got %q in the traces, want no secrets", secret)
		}
	}
}
