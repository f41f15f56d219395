package tracing

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gluepot/gluepot/tests/collector"
)

// callerTrace is a caller's trace, and callerHeader the header that carries it.
const callerTrace = "0af7651916cd43dd8448eb211c80319c"

var callerHeader = http.Header{"Traceparent": {"00-" + callerTrace + "-b7ad6b7169203331-01"}}

func TestMain(m *testing.M) {
	gin.SetMode(gin.TestMode)
	m.Run()
}

func newRecorder() (*Tracer, *tracetest.SpanRecorder) {
	recorder := tracetest.NewSpanRecorder()
	return &Tracer{sdk.NewTracerProvider(sdk.WithSpanProcessor(recorder))}, recorder
}

// begin begins a span that statements can belong to.
func begin(ctx context.Context, tracer *Tracer) (context.Context, func()) {
	ctx, span := tracer.provider.Tracer("test").Start(ctx, "request")
	return ctx, func() { span.End() }
}

// serve sends a request to a traced handler, and returns the id of the trace.
func serve(tracer *Tracer, method, route string, header http.Header, handle gin.HandlerFunc) (id string) {
	engine := gin.New()
	engine.Use(tracer.Middleware("id", func(c *gin.Context) string { return c.FullPath() }, "/healthz")...)
	engine.Use(func(c *gin.Context) { id = c.GetString("id") })
	if route != "" {
		engine.Handle(method, route, handle)
	} else {
		engine.NoRoute(handle)
	}
	path := strings.ReplaceAll(strings.TrimPrefix(route, "/"), ":", "secret")
	r := httptest.NewRequest(method, "https://secret.test/"+path+"?secret", http.NoBody)
	r.Header = header.Clone()
	if r.Header == nil {
		r.Header = http.Header{}
	}
	r.Header.Set("User-Agent", "secret")
	engine.ServeHTTP(httptest.NewRecorder(), r)
	return id
}

func answer(status int) gin.HandlerFunc { return func(c *gin.Context) { c.Status(status) } }

// TestCallers checks that a caller's trace continues.
func TestCallers(t *testing.T) {
	t.Parallel()
	tracer, _ := newRecorder()
	if id := serve(tracer, "GET", "/", callerHeader, answer(200)); id != callerTrace {
		t.Errorf("got the trace %s, want the caller's", id)
	}
}

// TestUntraced checks that a route that is left out has no span.
func TestUntraced(t *testing.T) {
	t.Parallel()
	tracer, recorder := newRecorder()
	if id := serve(tracer, "GET", "/healthz", nil, answer(200)); id != "" || len(recorder.Ended()) > 0 {
		t.Errorf("got the trace %q and %d spans, want none", id, len(recorder.Ended()))
	}
}

// TestSpans checks that names and outcomes of requests and statements follow OpenTelemetry, without the text of an
// error.
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
			serve(tracer, "GET", "/paste/:id", nil, func(c *gin.Context) {
				_ = c.Error(secret)
				c.Status(http.StatusServiceUnavailable)
			})
		}, "GET /paste/:id", codes.Error, []attribute.KeyValue{
			attribute.String("http.request.method", "GET"), attribute.String("http.route", "/paste/:id"),
			attribute.String("url.scheme", "https"),
			attribute.Int("http.response.status_code", 503),
		}},
		{func(tracer *Tracer) {
			serve(tracer, "other", "", nil, answer(http.StatusMethodNotAllowed))
		}, "other", codes.Unset, []attribute.KeyValue{
			attribute.String("http.request.method", "GET") /* as otelgin has it */, attribute.String("http.route", ""),
			attribute.String("url.scheme", "https"),
			attribute.Int("http.response.status_code", 405),
		}},
		{func(tracer *Tracer) {
			traceStatement(spanContext(t), tracer.Statements(), pgx.TraceQueryEndData{Err: &pgconn.PgError{Code: "57014",
				Message: "a secret value"}})
		}, "SELECT", codes.Error, []attribute.KeyValue{
			attribute.String("db.system.name", "postgresql"), attribute.String("pgx.sql_state", "57014"),
		}},
		{func(tracer *Tracer) {
			traceStatement(spanContext(t), tracer.Statements(),
				pgx.TraceQueryEndData{CommandTag: pgconn.NewCommandTag("SELECT 2")})
		}, "SELECT", codes.Unset, []attribute.KeyValue{
			attribute.String("db.system.name", "postgresql"), attribute.Int64("pgx.rows_affected", 2),
		}},
	} {
		tracer, recorder := newRecorder()
		test.do(tracer)
		spans := recorder.Ended()
		if len(spans) != 1 {
			t.Fatalf("%s: got %d spans, want one", test.name, len(spans))
		}
		got := publicSpan{spans[0]}
		if got.Name() != test.name || got.Status().Code != test.code || got.Status().Description != "" ||
			len(got.Events()) != 0 {
			t.Errorf("%s: got %s, %v and %v, want %v alone", test.name, got.Name(), got.Status(), got.Events(), test.code)
		}
		byKey := func(a, b attribute.KeyValue) int { return strings.Compare(string(a.Key), string(b.Key)) }
		attributes := slices.SortedFunc(slices.Values(got.Attributes()), byKey)
		if want := slices.SortedFunc(slices.Values(test.want), byKey); !slices.Equal(attributes, want) {
			t.Errorf("%s: got %v, want %v", test.name, attributes, want)
		}
	}
}

// spanContext returns the context of a span of another tracer, which the test's recorder does not see.
func spanContext(t *testing.T) context.Context {
	other, _ := newRecorder()
	ctx, _ := begin(t.Context(), other)
	return ctx
}

// traceStatement reports a statement with a secret in it to a tracer, as pgx does.
func traceStatement(ctx context.Context, tracer pgx.QueryTracer, end pgx.TraceQueryEndData) {
	ctx = tracer.TraceQueryStart(ctx, nil, pgx.TraceQueryStartData{
		SQL: "select 'secret' from users where name = $1", Args: []any{"secret"},
	})
	tracer.TraceQueryEnd(ctx, nil, end)
}

// TestStatementOutsideSpans checks that a statement has a span only inside another one.
func TestStatementOutsideSpans(t *testing.T) {
	t.Parallel()
	tracer, recorder := newRecorder()
	traceStatement(t.Context(), tracer.Statements(), pgx.TraceQueryEndData{})
	if spans := recorder.Ended(); len(spans) != 0 {
		t.Errorf("got %d spans, want none", len(spans))
	}
	ctx, end := begin(t.Context(), tracer)
	traceStatement(ctx, tracer.Statements(), pgx.TraceQueryEndData{})
	end()
	if spans := recorder.Ended(); len(spans) != 2 || spans[0].Parent().SpanID() != spans[1].SpanContext().SpanID() {
		t.Errorf("got %d spans, want the statement and its parent", len(spans))
	}
}

// setEnvironment sets these variables, and clears all others that concern traces.
func setEnvironment(t *testing.T, settings ...string) {
	t.Helper()
	for _, name := range []string{
		"OTEL_SDK_DISABLED", "OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
		"OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_HEADERS",
		"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_COMPRESSION", "OTEL_EXPORTER_OTLP_TIMEOUT",
		"OTEL_EXPORTER_OTLP_CERTIFICATE",
		"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE",
		"OTEL_EXPORTER_OTLP_CLIENT_KEY",
		"OTEL_BSP_MAX_QUEUE_SIZE", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "OTEL_BSP_SCHEDULE_DELAY", "OTEL_RESOURCE_ATTRIBUTES",
		"OTEL_SERVICE_NAME",
		"OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG",
	} {
		t.Setenv(name, "")
	}
	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		t.Setenv(name, value)
	}
}

// TestOff checks that there is no tracer unless the environment asks for one, and that unsupported settings cause a
// warning without secrets.
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
		{[]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=user:secret@localhost:4318"}, 1},
		{[]string{endpoint, "OTEL_BSP_MAX_QUEUE_SIZE=-1"}, 1},
		{[]string{endpoint, "OTEL_BSP_MAX_QUEUE_SIZE=99999999999999"}, 1},
		{[]string{endpoint, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE=-1"}, 1},
		{[]string{endpoint, "OTEL_BSP_SCHEDULE_DELAY=0"}, 1}, // on which the SDK would spend a processor
	} {
		setEnvironment(t, test.settings...)
		core, logs := observer.New(zapcore.DebugLevel)
		if tracer := Open("1", zap.New(core)); tracer != nil {
			t.Errorf("%v: got a tracer, want none", test.settings)
		}
		if logs.Len() != test.warnings {
			t.Errorf("%v: got %v in the log, want %d warnings", test.settings, logs.All(), test.warnings)
		}
		for _, line := range logs.All() {
			if err, _ := line.ContextMap()["error"].(string); strings.Contains(err, "secret") ||
				line.Level != zapcore.WarnLevel {
				t.Errorf("%v: got %v, want a warning without the secret", test.settings, line)
			}
		}
	}
}

// TestSending checks that the remaining spans are sent at the end, as the environment configures it.
func TestSending(t *testing.T) {
	receiver := collector.Start(t)
	setEnvironment(t, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="+receiver.URL+"/v1/traces",
		"OTEL_EXPORTER_OTLP_HEADERS=key=a%20b, other = c",
		"OTEL_EXPORTER_OTLP_COMPRESSION=gzip", "OTEL_RESOURCE_ATTRIBUTES=deployment.environment.name=test")
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "3600000")
	tracer := Open("1.2.3", zap.NewNop())
	_, end := begin(t.Context(), tracer)
	end()
	if got := receiver.Spans(); len(got) != 0 {
		t.Fatalf("got %v before the end, want nothing", got)
	}
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := receiver.Spans(); len(got) != 1 || got[0].GetName() != "request" {
		t.Fatalf("got %v, want the span", got)
	}
	sender := receiver.Resources()[0].GetResource().GetAttributes()
	for key, want := range map[string]string{"service.name": "gluepot", "service.version": "1.2.3",
		"deployment.environment.name": "test"} {
		if got := collector.Attribute(sender, key); got != want {
			t.Errorf("got %s=%q, want %q", key, got, want)
		}
	}
	header := receiver.Headers()[0]
	if header.Get("key") != "a b" || header.Get("other") != "c" || header.Get("Content-Type") != "application/x-protobuf" {
		t.Errorf("got %v, want the headers of the environment", header)
	}
}

// TestSecretSettings checks that failed sending and wrong settings cause warnings without secrets.
func TestSecretSettings(t *testing.T) {
	refusing := httptest.NewServer(http.NotFoundHandler())
	defer refusing.Close()
	address := strings.TrimPrefix(refusing.URL, "http://")
	for _, settings := range [][]string{
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://user:secret@" + address},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://" + address + "/secret/?key=secret"},
		{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://user:secret@127.0.0.1:1/secret?key=secret#"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://" + address, "OTEL_EXPORTER_OTLP_HEADERS=secret"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://" + address, "OTEL_EXPORTER_OTLP_HEADERS=key=secret%zz"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://" + address, "OTEL_EXPORTER_OTLP_TIMEOUT=secret"},
	} {
		setEnvironment(t, settings...)
		core, logs := observer.New(zapcore.DebugLevel)
		tracer := Open("1", zap.New(core))
		_, end := begin(t.Context(), tracer)
		end()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		_ = tracer.Close(ctx) // its error or the log reports spans that were not sent
		cancel()
		lines := logs.FilterLevelExact(zapcore.WarnLevel).All()
		if len(lines) == 0 {
			t.Errorf("%v: got no warning, want one", settings)
		}
		for _, line := range logs.All() {
			if strings.Contains(fmt.Sprint(line.Message, line.ContextMap()), "secret") {
				t.Errorf("%v: got %v, want it without the secret", settings, line)
			}
		}
	}
}

// TestSampler checks that the SDK uses the environment's sampler.
func TestSampler(t *testing.T) {
	receiver := collector.Start(t)
	setEnvironment(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+receiver.URL, "OTEL_TRACES_SAMPLER=parentbased_traceidratio",
		"OTEL_TRACES_SAMPLER_ARG=0")
	tracer := Open("1", zap.NewNop())
	for _, header := range []http.Header{nil, callerHeader} {
		serve(tracer, "GET", "/", header, func(c *gin.Context) {
			traceStatement(c.Request.Context(), tracer.Statements(), pgx.TraceQueryEndData{})
		})
	}
	if err := tracer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := receiver.Spans(); len(got) != 2 {
		t.Errorf("got %d spans, want the two of the caller whose trace is sampled", len(got))
	}
}

// TestCollectorAway checks that spans are dropped without a collector, with one warning, and that the stop is quick.
func TestCollectorAway(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refusing := "http://user:secret@" + listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	release := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer hanging.Close()
	defer close(release)
	for name, endpoint := range map[string]string{"refuses": refusing, "hangs": hanging.URL} {
		t.Run(name, func(t *testing.T) {
			setEnvironment(t, "OTEL_EXPORTER_OTLP_ENDPOINT="+endpoint)
			t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "1")
			core, logs := observer.New(zapcore.WarnLevel)
			tracer := Open("1", zap.New(core))
			for range 10_000 { // more than the queue holds
				_, end := begin(t.Context(), tracer)
				end()
			}
			for end := time.Now().Add(time.Minute); name == "refuses" && logs.Len() == 0 && time.Now().Before(end); {
				time.Sleep(time.Millisecond)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			err := tracer.Close(ctx)
			if name == "hangs" && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v, want context.DeadlineExceeded, since the collector never answers", err)
			}
			lines := logs.All()
			if len(lines) > 1 || name == "refuses" && len(lines) == 0 {
				t.Errorf("got %v, want at most one warning, and one if the connection is refused", lines)
			}
			for _, line := range lines {
				if text, _ := line.ContextMap()["error"].(string); strings.Contains(text, "secret") {
					t.Errorf("got %s, want it without the password", text)
				}
			}
		})
	}
}
