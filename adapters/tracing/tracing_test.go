package tracing

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/trace"
	"github.com/gluepot/gluepot/tests/collector"
)

// callerTrace is a caller's trace, and callerHeader the header that says so.
const callerTrace = "0af7651916cd43dd8448eb211c80319c"

var callerHeader = http.Header{"Traceparent": {"00-" + callerTrace + "-b7ad6b7169203331-01"}}

func recorded() (*Tracer, *tracetest.SpanRecorder) {
	recorder := tracetest.NewSpanRecorder()
	return newTracer(sdk.NewTracerProvider(sdk.WithSpanProcessor(recorder)), propagators("")), recorder
}

// TestCallers wants a caller's trace to be gone on with where its header may be believed, and nowhere else.
func TestCallers(t *testing.T) {
	t.Parallel()
	tracer, _ := recorded()
	if _, id := tracer.RequestBegan(t.Context(), "GET", "/", "http", callerHeader); id != callerTrace {
		t.Errorf("got the trace %s, want the caller's", id)
	}
	if _, id := tracer.RequestBegan(t.Context(), "GET", "/", "http", nil); id == callerTrace || len(id) != len(callerTrace) {
		t.Errorf("got the trace %s of a stranger, want a new one", id)
	}
	for listed, known := range map[string]bool{"baggage, tracecontext": true, "b3": false, "none": false} {
		tracer.callers = propagators(listed)
		if _, id := tracer.RequestBegan(t.Context(), "GET", "/", "http", callerHeader); (id == callerTrace) != known {
			t.Errorf("OTEL_PROPAGATORS=%s: got the trace %s, want the caller's: %v", listed, id, known)
		}
	}
}

// TestSpans wants names and outcomes of requests and use cases as OpenTelemetry has them, and no text of an error.
func TestSpans(t *testing.T) {
	t.Parallel()
	secret := errors.New("a secret value")
	for _, test := range []struct {
		do   func(*Tracer)
		name string
		code codes.Code
		want []attribute.KeyValue
	}{
		{func(tracer *Tracer) {
			ctx, _ := tracer.RequestBegan(t.Context(), "GET", "/paste/:id", "https", nil)
			tracer.RequestEnded(ctx, http.StatusServiceUnavailable)
		}, "GET /paste/:id", codes.Error, []attribute.KeyValue{
			attribute.String("http.request.method", "GET"), attribute.String("http.route", "/paste/:id"), attribute.String("url.scheme", "https"),
			attribute.Int("http.response.status_code", 503), attribute.String("error.type", "503"),
		}},
		{func(tracer *Tracer) {
			ctx, _ := tracer.RequestBegan(t.Context(), "other", "", "http", nil)
			tracer.RequestEnded(ctx, http.StatusMethodNotAllowed)
		}, "HTTP", codes.Unset, []attribute.KeyValue{
			attribute.String("http.request.method", "_OTHER"), attribute.String("url.scheme", "http"),
			attribute.Int("http.response.status_code", 405),
		}},
		{func(tracer *Tracer) {
			_, end := trace.Start(trace.With(t.Context(), tracer), "users.Show")
			end(fault.Wrap(fault.NotFound, "There is no such user.", secret))
		}, "users.Show", codes.Unset, []attribute.KeyValue{attribute.String("error.type", "not_found")}},
		{func(tracer *Tracer) {
			_, end := tracer.Start(t.Context(), "users.Show")
			end(secret)
		}, "users.Show", codes.Error, []attribute.KeyValue{attribute.String("error.type", "internal")}},
		{func(tracer *Tracer) {
			ctx, end := tracer.Start(t.Context(), "users.Show")
			tracer.StatementEnded(tracer.StatementBegan(ctx, "sqlite", "SELECT users"), "timeout")
			_ = end
		}, "SELECT users", codes.Error, []attribute.KeyValue{
			attribute.String("db.system.name", "sqlite"), attribute.String("db.operation.name", "SELECT"),
			attribute.String("db.query.summary", "SELECT users"), attribute.String("error.type", "timeout"),
		}},
	} {
		tracer, recorder := recorded()
		test.do(tracer)
		ended := recorder.Ended()
		if len(ended) != 1 {
			t.Fatalf("%s: got %d spans, want one", test.name, len(ended))
		}
		got := ended[0]
		if got.Name() != test.name || got.Status().Code != test.code || got.Status().Description != "" || len(got.Events()) != 0 {
			t.Errorf("%s: got %s, %v and %v, want %v alone", test.name, got.Name(), got.Status(), got.Events(), test.code)
		}
		same := func(a, b attribute.KeyValue) int { return strings.Compare(string(a.Key), string(b.Key)) }
		attributes := slices.SortedFunc(slices.Values(got.Attributes()), same)
		if want := slices.SortedFunc(slices.Values(test.want), same); !slices.Equal(attributes, want) {
			t.Errorf("%s: got %v, want %v", test.name, attributes, want)
		}
	}
}

// TestNobodysStatement wants no span of a statement that is part of nothing, and that of who asked not to end with it.
func TestNobodysStatement(t *testing.T) {
	t.Parallel()
	tracer, recorder := recorded()
	tracer.StatementEnded(tracer.StatementBegan(t.Context(), "sqlite", "SELECT users"), "")
	ctx, end := tracer.Start(t.Context(), "users.Show")
	tracer.StatementEnded(ctx, "") // of one that never began
	if ended := recorder.Ended(); len(ended) != 0 {
		t.Errorf("got %d spans, want none", len(ended))
	}
	end(nil)
	if ended := recorder.Ended(); len(ended) != 1 {
		t.Errorf("got %d spans, want that of the use case", len(ended))
	}
}

// TestHostileCallers wants headers that W3C's Trace Context does not allow to begin a new trace, its state to be read from several lines
// (3.3.1.1), and one that is too long not to be carried by every span.
func TestHostileCallers(t *testing.T) {
	t.Parallel()
	tracer, recorder := recorded()
	parent := callerHeader["Traceparent"][0]
	for _, test := range []struct {
		parents, states []string
		goesOn          bool
		state           string
	}{
		{[]string{parent}, []string{"a=1", "b=2"}, true, "a=1,b=2"},
		{[]string{parent}, []string{"a=1,a=2"}, true, ""},
		{[]string{parent}, []string{"a=" + strings.Repeat("x", 200), "b=" + strings.Repeat("x", 200), "c=" + strings.Repeat("x", 200),
			"d=" + strings.Repeat("x", 200), "e=" + strings.Repeat("x", 200), "f=" + strings.Repeat("x", 200)}, true, ""},
		{[]string{parent, parent[:len(parent)-3] + "-00"}, nil, false, ""},
		{[]string{strings.ToUpper(parent)}, nil, false, ""},
		{[]string{"ff" + parent[2:]}, nil, false, ""},
		{[]string{parent + "-more"}, nil, false, ""},
		{[]string{strings.Repeat("0", 60_000)}, nil, false, ""},
		{[]string{"00-" + strings.Repeat("0", 32) + "-b7ad6b7169203331-01"}, nil, false, ""},
	} {
		ctx, id := tracer.RequestBegan(t.Context(), "GET", "/", "http", http.Header{"Traceparent": test.parents, "Tracestate": test.states})
		tracer.RequestEnded(ctx, http.StatusOK)
		ended := recorder.Ended()
		if state := ended[len(ended)-1].SpanContext().TraceState().String(); (id == callerTrace) != test.goesOn || state != test.state {
			t.Errorf("%.80q and %.80q: got the trace %s with state %.80q, want the caller's: %v, with %q", test.parents, test.states, id, state,
				test.goesOn, test.state)
		}
	}
}

// forget has the environment say nothing of traces.
func forget(t *testing.T, settings ...string) {
	t.Helper()
	for _, name := range []string{
		"OTEL_SDK_DISABLED", "OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
		"OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_HEADERS",
		"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_COMPRESSION", "OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_CERTIFICATE",
		"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE", "OTEL_EXPORTER_OTLP_CLIENT_KEY",
		"OTEL_BSP_MAX_QUEUE_SIZE", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "OTEL_BSP_SCHEDULE_DELAY", "OTEL_RESOURCE_ATTRIBUTES", "OTEL_SERVICE_NAME",
		"OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG",
	} {
		t.Setenv(name, "")
	}
	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		t.Setenv(name, value)
	}
}

// TestOff wants no tracer unless the environment asks for one, and a warning, without secrets, where it asks for what there
// is not.
func TestOff(t *testing.T) {
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318"
	for _, test := range []struct {
		settings []string
		warnings int
	}{
		{nil, 0},
		{[]string{endpoint, "OTEL_SDK_DISABLED=true"}, 0},
		{[]string{endpoint, "OTEL_TRACES_EXPORTER=none"}, 0},
		{[]string{endpoint, "OTEL_TRACES_EXPORTER=zipkin"}, 1},
		{[]string{endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"}, 1},
		{[]string{endpoint, "OTEL_EXPORTER_OTLP_HEADERS=secret"}, 1},
		{[]string{endpoint, "OTEL_EXPORTER_OTLP_TIMEOUT=10s"}, 1},
		{[]string{endpoint, "OTEL_EXPORTER_OTLP_CERTIFICATE=/nowhere"}, 1},
		{[]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=user:secret@localhost:4318"}, 1},
		{[]string{endpoint, "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE=/nowhere", "OTEL_EXPORTER_OTLP_CLIENT_KEY=/nowhere"}, 1},
		{[]string{endpoint, "OTEL_BSP_MAX_QUEUE_SIZE=-1"}, 1},
		{[]string{endpoint, "OTEL_BSP_MAX_QUEUE_SIZE=99999999999999"}, 1},
		{[]string{endpoint, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE=-1"}, 1},
		{[]string{endpoint, "OTEL_BSP_SCHEDULE_DELAY=0"}, 1}, // which the SDK would spend a processor on
	} {
		forget(t, test.settings...)
		core, logged := observer.New(zapcore.DebugLevel)
		if tracer := Open("1", zap.New(core)); tracer != nil {
			t.Errorf("%v: got a tracer, want none", test.settings)
		}
		if logged.Len() != test.warnings {
			t.Errorf("%v: got %v in the log, want %d warnings", test.settings, logged.All(), test.warnings)
		}
		for _, line := range logged.All() {
			if err, _ := line.ContextMap()["error"].(string); strings.Contains(err, "secret") || line.Level != zapcore.WarnLevel {
				t.Errorf("%v: got %v, want a warning without the secret", test.settings, line)
			}
		}
	}
}

// TestSending wants what is left to be sent at the end, as the environment has it.
func TestSending(t *testing.T) {
	received := collector.Start(t)
	forget(t, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="+received.URL+"/v1/traces", "OTEL_EXPORTER_OTLP_HEADERS=key=a%20b, other = c",
		"OTEL_EXPORTER_OTLP_COMPRESSION=gzip", "OTEL_RESOURCE_ATTRIBUTES=deployment.environment.name=test")
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "3600000")
	tracer := Open("1.2.3", zap.NewNop())
	_, end := tracer.Start(t.Context(), "users.Show")
	end(nil)
	if got := received.Spans(); len(got) != 0 {
		t.Fatalf("got %v before the end, want nothing", got)
	}
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := received.Spans(); len(got) != 1 || got[0].GetName() != "users.Show" {
		t.Fatalf("got %v, want the span", got)
	}
	sender := received.Resources()[0].GetResource().GetAttributes()
	for key, want := range map[string]string{"service.name": "gluepot", "service.version": "1.2.3", "deployment.environment.name": "test"} {
		if got := collector.Attribute(sender, key); got != want {
			t.Errorf("got %s=%q, want %q", key, got, want)
		}
	}
	header := received.Headers()[0]
	if header.Get("key") != "a b" || header.Get("other") != "c" || header.Get("Content-Type") != "application/x-protobuf" {
		t.Errorf("got %v, want the headers of the environment", header)
	}
}

// TestEndpoints wants the path of traces before what follows a path, and nothing in the log that a client of the collector may have
// for a password: not when all goes well, not when nobody is there, and not when somebody else is named.
func TestEndpoints(t *testing.T) {
	elsewhere := make(chan http.Header, 1)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { elsewhere <- r.Header }))
	defer other.Close()
	asked := make(chan *http.Request, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r
		http.Redirect(w, r, strings.Replace(other.URL, "127.0.0.1", "localhost", 1)+"/?key=secret", http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	address := strings.TrimPrefix(server.URL, "http://")
	for endpoint, path := range map[string]string{
		"http://secret@" + address:                          "/v1/traces",
		"http://" + address + "/secret/":                    "/secret/v1/traces",
		"http://" + address + "/otlp?key=secret":            "/otlp/v1/traces?key=secret",
		"http://user:secret@127.0.0.1:1/secret?key=secret#": "",
	} {
		forget(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+endpoint, "OTEL_EXPORTER_OTLP_HEADERS=api-key=secret")
		core, logged := observer.New(zapcore.DebugLevel)
		tracer := Open("1", zap.New(core))
		_, end := tracer.Start(t.Context(), "users.Show")
		end(nil)
		if err := tracer.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if path != "" {
			if got := <-asked; got.URL.RequestURI() != path || got.Header.Get("Api-Key") != "secret" {
				t.Errorf("%s: got %s with %v, want %s with the key", endpoint, got.URL.RequestURI(), got.Header, path)
			}
		}
		select {
		case header := <-elsewhere:
			t.Errorf("%s: got %v at the place that the collector names, want nothing to be sent there", endpoint, header)
		default:
		}
		if lines := logged.All(); len(lines) != 2 || strings.Contains(fmt.Sprint(lines[0].ContextMap(), lines[1].ContextMap()), "secret") {
			t.Errorf("%s: got %v, want where traces go and a warning, without what is secret", endpoint, lines)
		}
	}
}

// TestClientCertificate wants a collector that asks who sends to be shown a certificate.
func TestClientCertificate(t *testing.T) {
	shown := make(chan int, 1)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		shown <- len(r.TLS.PeerCertificates)
	}))
	server.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	defer server.Close()
	served := server.TLS.Certificates[0] // it will do for the client, too
	key, err := x509.MarshalPKCS8PrivateKey(served.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	for path, block := range map[string]*pem.Block{
		certFile: {Type: "CERTIFICATE", Bytes: served.Certificate[0]}, keyFile: {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	forget(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+server.URL, "OTEL_EXPORTER_OTLP_CERTIFICATE="+certFile,
		"OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE="+certFile, "OTEL_EXPORTER_OTLP_CLIENT_KEY="+keyFile)
	core, logged := observer.New(zapcore.WarnLevel)
	tracer := Open("1", zap.New(core))
	_, end := tracer.Start(t.Context(), "users.Show")
	end(nil)
	if err := tracer.Close(t.Context()); err != nil {
		t.Error(err)
	}
	select {
	case got := <-shown:
		if got != 1 {
			t.Errorf("got %d certificates, want one", got)
		}
	default:
		t.Errorf("got %v, want the traces to arrive", logged.All())
	}
}

// TestSampler wants the SDK to hear of the environment's sampler.
func TestSampler(t *testing.T) {
	received := collector.Start(t)
	forget(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+received.URL, "OTEL_TRACES_SAMPLER=parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG=0")
	tracer := Open("1", zap.NewNop())
	var callers []context.Context // the first is that of a trace that is not kept
	for _, header := range []http.Header{nil, callerHeader} {
		ctx, _ := tracer.RequestBegan(t.Context(), "GET", "/", "http", header)
		served, end := tracer.Start(ctx, "users.Show")
		callers = append(callers, served)
		merged := tracer.Merged(context.Background(), callers)
		tracer.StatementEnded(tracer.StatementBegan(merged, "sqlite", "SELECT users"), "")
		end(nil)
		tracer.RequestEnded(ctx, http.StatusOK)
	}
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := received.Spans()
	if len(got) != 3 {
		t.Errorf("got %d spans, want the three of a caller who has its trace sampled, and none of the other's", len(got))
	}
	served := []int64{}
	for _, span := range got {
		for _, a := range span.GetAttributes() {
			if a.GetKey() == "gluepot.statement.served" {
				served = append(served, a.GetValue().GetIntValue())
			}
		}
	}
	if !slices.Equal(served, []int64{2}) {
		t.Errorf("got statements that served %v, want one that served both callers", served)
	}
}

// TestCollectorAway wants spans that nobody takes to be dropped, with one warning, and the end not to wait for long.
func TestCollectorAway(t *testing.T) {
	closed, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refusing := "http://user:secret@" + closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	release := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer hanging.Close()
	defer close(release)
	for name, endpoint := range map[string]string{"refuses": refusing, "hangs": hanging.URL} {
		t.Run(name, func(t *testing.T) {
			forget(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+endpoint)
			t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "1")
			core, logged := observer.New(zapcore.WarnLevel)
			tracer := Open("1", zap.New(core))
			for range 10_000 { // more than the queue holds
				_, end := tracer.Start(t.Context(), "users.Show")
				end(nil)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			err := tracer.Close(ctx)
			if name == "hangs" && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v, want the end of the context: the collector never answers", err)
			}
			lines := logged.All()
			if len(lines) > 1 || name == "refuses" && len(lines) == 0 {
				t.Errorf("got %v, want one warning at most, and one where a connection is refused", lines)
			}
			for _, line := range lines {
				if text, _ := line.ContextMap()["error"].(string); strings.Contains(text, "secret") {
					t.Errorf("got %s, want it without the password", text)
				}
			}
		})
	}
}

// TestWarnings wants one warning in an interval, and the number of those that were left out in the next.
func TestWarnings(t *testing.T) {
	t.Parallel()
	core, logged := observer.New(zapcore.WarnLevel)
	handler := &warnings{log: zap.New(core), interval: time.Hour}
	for range 3 {
		handler.Handle(errors.New("away"))
	}
	handler.written = handler.written.Add(-2 * time.Hour)
	handler.Handle(errors.New("away"))
	lines := logged.All()
	if len(lines) != 2 || lines[1].ContextMap()["warnings_left_out"] != int64(2) {
		t.Errorf("got %v, want two warnings, of which the second has left out two", lines)
	}
}
