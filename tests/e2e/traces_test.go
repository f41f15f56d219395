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

// TestTraces sends requests with a caller's trace, and reads what the collector has received once the server has
// stopped, which is when everything is sent.
func TestTraces(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		received := collector.Start(t)
		p := program.Serve(t, cfg.URL, trustTests, "GLUEPOT_ADMIN_ADDR=127.0.0.1:0", "OTEL_SERVICE_NAME=the pot",
			"OTEL_EXPORTER_OTLP_ENDPOINT="+received.URL, "OTEL_BSP_SCHEDULE_DELAY=3600000")
		const (
			trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
			code          = "what nobody else is to read"
		)
		within := []string{"Authorization: " + program.EpoxyToken, "traceparent: 00-" + trace + "-" + parent + "-01",
			"tracestate: vendor=kept",
			"baggage: user=somebody"}
		for _, request := range [][]string{
			{http.MethodGet, "/paste/oldest01?x=query"},
			{http.MethodPost, "/paste", "Content-Type: application/json",
				"\n" + `{"title":"a title","pasties":[{"code":"` + code + `"}]}`},
			{http.MethodGet, "/user/somename/exists"},
			{http.MethodGet, "/healthz"},
		} {
			exchange(t, p, request[0], request[1], slices.Concat(within, request[2:])...)
		}
		p.Signal(syscall.SIGTERM)
		if code := p.Wait(); code != 0 {
			t.Errorf("got exit code %d, want 0", code)
		}
		if line := p.WaitForLog("request"); line["trace_id"] != trace {
			t.Errorf("got %v in the access log, want the trace %s", line, trace)
		}

		spans := received.Spans()
		callers, _ := hex.DecodeString(parent)
		read := wantPart(t, spans, callers, "GET /paste/:id")
		if hex.EncodeToString(read.GetTraceId()) != trace || read.GetTraceState() != "vendor=kept" ||
			read.GetKind() != traces.Span_SPAN_KIND_SERVER {
			t.Errorf("got %v, want a part of the caller's trace", read)
		}
		making := wantPart(t, spans, callers, "POST /paste")
		if strings.HasPrefix(cfg.URL, "postgres") {
			wantStatement(t, spans, read, "SELECT")
			wantStatement(t, spans, making, "batch")
		}
		missing := wantPart(t, spans, callers, "GET /user/:username/exists")
		if missing.GetStatus().GetCode() != traces.Status_STATUS_CODE_UNSET {
			t.Errorf("got the status %v of a name that nobody has, want none: it is no failure", missing.GetStatus())
		}
		wantNothingOf(t, received, program.EpoxyToken, code, "oldest01", "somename", "a title", "somebody",
			"x=query", "healthz")
		if sender := received.Resources()[0].GetResource(); collector.Attribute(sender.GetAttributes(),
			"service.name") != "the pot" {
			t.Errorf("got %v, want the service's name", sender)
		}
	})
}

// wantPart returns a span that is part of another and whose name is that, or begins so.
func wantPart(t *testing.T, spans []*traces.Span, parent []byte, name string) *traces.Span {
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
	t.Fatalf("got the parts %q of %x, want %s", names, parent, name)
	return nil
}

// wantStatement wants a statement on PostgreSQL to be part of a request.
func wantStatement(t *testing.T, spans []*traces.Span, of *traces.Span, name string) {
	t.Helper()
	statement := wantPart(t, spans, of.GetSpanId(), name)
	system := collector.Attribute(statement.GetAttributes(), "db.system.name")
	if system != "postgresql" || statement.GetKind() != traces.Span_SPAN_KIND_CLIENT {
		t.Errorf("got %v, want a statement on PostgreSQL", statement)
	}
}

// wantNothingOf wants traces without these texts.
func wantNothingOf(t *testing.T, received *collector.Collector, secrets ...string) {
	t.Helper()
	var all strings.Builder
	for _, sent := range received.Resources() {
		fmt.Fprintln(&all, prototext.Format(sent))
	}
	for _, secret := range secrets {
		if strings.Contains(all.String(), secret) {
			t.Errorf("got %q in the traces, want it nowhere", secret)
		}
	}
}
