package e2e

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/prototext"

	"github.com/gluepot/gluepot/adapters/gormstore"
	"github.com/gluepot/gluepot/tests/collector"
	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

// TestTraces sends requests that are part of a caller's trace to a server, and looks at what a collector has received when it
// has stopped: only then is anything sent.
func TestTraces(t *testing.T) {
	t.Parallel()
	database.Each(t, func(t *testing.T, cfg gormstore.Config) {
		program.Fixture(t, cfg)
		received := collector.Start(t)
		p := program.Serve(t, string(cfg.URL), trustTests, "GLUEPOT_ADMIN_ADDR=127.0.0.1:0", "OTEL_SERVICE_NAME=the pot",
			"OTEL_EXPORTER_OTLP_ENDPOINT="+received.URL, "OTEL_BSP_SCHEDULE_DELAY=3600000")
		const (
			trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
			code          = "what nobody else is to read"
		)
		within := []string{"Authorization: " + program.EpoxyToken, "traceparent: 00-" + trace + "-" + parent + "-01", "tracestate: vendor=kept",
			"baggage: user=somebody"}
		for _, request := range [][]string{
			{http.MethodGet, "/paste/oldest01?x=query"},
			{http.MethodPost, "/paste", "Content-Type: application/json", "\n" + `{"title":"a title","pasties":[{"code":"` + code + `"}]}`},
			{http.MethodGet, "/user/somename/exists"},
			{http.MethodGet, "/healthz"},
		} {
			exchange(t, p, request[0], request[1], slices.Concat(within, request[2:])...)
		}
		mergeCounts(t, p)
		p.Signal(syscall.SIGTERM)
		if code := p.Wait(); code != 0 {
			t.Errorf("got exit code %d, want 0", code)
		}
		if line := p.WaitForLog("request"); line["trace_id"] != trace {
			t.Errorf("got %v in the access log, want the trace %s", line, trace)
		}

		spans := received.Spans()
		system := gormstore.SystemSQLite
		if strings.HasPrefix(string(cfg.URL), "postgres") {
			system = gormstore.SystemPostgres
		}
		callers, _ := hex.DecodeString(parent)
		read := wantPart(t, spans, callers, "GET /paste/:id")
		if hex.EncodeToString(read.GetTraceId()) != trace || read.GetTraceState() != "vendor=kept" ||
			read.GetKind() != traces.Span_SPAN_KIND_SERVER {
			t.Errorf("got %v, want a part of the caller's trace", read)
		}
		asked := wantPart(t, spans, wantPart(t, spans, read.GetSpanId(), "pastes.Read").GetSpanId(), "SELECT ")
		if collector.Attribute(asked.GetAttributes(), "db.system.name") != system || asked.GetKind() != traces.Span_SPAN_KIND_CLIENT {
			t.Errorf("got %v, want a statement on %s", asked, system)
		}
		made := wantPart(t, spans, wantPart(t, spans, callers, "POST /paste").GetSpanId(), "pastes.CreateOwn")
		if !slices.ContainsFunc(spans, func(s *traces.Span) bool {
			return bytes.Equal(s.GetParentSpanId(), made.GetSpanId()) && strings.Contains(s.GetName(), "INSERT pastes")
		}) {
			t.Errorf("got no statement in %v, want one that stores", made)
		}
		missing := wantPart(t, spans, callers, "GET /user/:username/exists")
		if missing.GetStatus().GetCode() != traces.Status_STATUS_CODE_UNSET {
			t.Errorf("got the status %v of a name that nobody has, want none: it is no failure", missing.GetStatus())
		}
		wantLinked(t, spans)
		wantNothingOf(t, received, program.EpoxyToken, code, "oldest01", "somename", "a title", "somebody", "x=query", "healthz")
		if sender := received.Resources()[0].GetResource(); collector.Attribute(sender.GetAttributes(), "service.name") != "the pot" {
			t.Errorf("got %v, want the service's name", sender)
		}
	})
}

// mergeCounts asks for the number of pastes at once until some who asked have shared a statement, as the figures say.
func mergeCounts(t *testing.T, p *program.Process) {
	t.Helper()
	admin, _ := p.WaitForLog("serving metrics")["address"].(string)
	figure := regexp.MustCompile(`(?m)^gluepot_lookup_batch_size_(sum|count)\{kind="counts"\} (\d+)`)
	program.Eventually(t, "a statement that counts for several requests", func() bool {
		var asking sync.WaitGroup
		for range 16 {
			asking.Go(func() { p.Get("/data/numPastes", "") })
		}
		asking.Wait()
		found := figure.FindAllStringSubmatch(scrape(t, admin, "/metrics"), -1)
		return len(found) == 2 && found[0][2] != found[1][2]
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

// wantLinked wants a statement that served several requests to be linked to each, and each to it.
func wantLinked(t *testing.T, spans []*traces.Span) {
	t.Helper()
	byID := make(map[string]*traces.Span)
	for _, s := range spans {
		byID[string(s.GetSpanId())] = s
	}
	served := make(map[string]bool)
	for _, statement := range spans {
		if statement.GetKind() != traces.Span_SPAN_KIND_CLIENT || len(statement.GetLinks()) < 2 {
			continue
		}
		for _, link := range statement.GetLinks() {
			waited := byID[string(link.GetSpanId())]
			if waited.GetName() != "pastes.CountActive" || !slices.ContainsFunc(waited.GetLinks(), func(back *traces.Span_Link) bool {
				return bytes.Equal(back.GetSpanId(), statement.GetSpanId())
			}) {
				t.Errorf("got %v, want what counts, linked to %v", waited, statement)
			}
			served[string(link.GetTraceId())] = true
		}
	}
	if len(served) < 2 {
		t.Errorf("got statements that served %d requests together, want at least 2", len(served))
	}
}

// wantNothingOf looks for what nobody may learn from traces.
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
