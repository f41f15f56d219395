package tracing

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	globals "go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.uber.org/zap"
)

// Open returns a tracer for a process of that version as the environment has it, or nil when that names neither an endpoint nor an
// exporter, or turns tracing off. What it asks for and cannot have is a warning, and then there are no traces: a
// service is not to fail for those who watch it, says OpenTelemetry.
//
// OpenTelemetry has one handler of errors for the whole process, which becomes one that writes to log. Open is for programs.
//
// The SDK itself reads OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG, OTEL_BSP_*
// and the limits of spans.
func Open(version string, log *zap.Logger) *Tracer {
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") {
		return nil
	}
	client, err := clientFromEnvironment(os.Getenv)
	if err == nil && client != nil {
		err = checkBatches(os.Getenv)
	}
	if err != nil {
		log.Warn("there are no traces: the environment asks for something that Gluepot does not have", zap.Error(err))
		return nil
	}
	if client == nil {
		return nil
	}
	globals.SetErrorHandler(&warnings{log: log, interval: time.Minute})
	exporter := otlptrace.NewUnstarted(client)
	if err := exporter.Start(context.Background()); err != nil { // which does nothing
		globals.Handle(err)
	}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(describe(version)))
	log.Info("sending traces", zap.String("endpoint", client.endpoint.Scheme+"://"+client.endpoint.Host)) // the rest may be a secret
	return newTracer(provider, propagators(os.Getenv("OTEL_PROPAGATORS")))
}

// maxBatches is more spans than anybody can want to have wait.
const maxBatches = 1_000_000

// checkBatches refuses what the SDK takes as it comes: sizes that it cannot allocate, and a delay of nothing between two batches.
func checkBatches(getenv func(string) string) error {
	for name, most := range map[string]int{
		"OTEL_BSP_MAX_QUEUE_SIZE": maxBatches, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": maxBatches,
		"OTEL_BSP_SCHEDULE_DELAY": math.MaxInt32, "OTEL_BSP_EXPORT_TIMEOUT": math.MaxInt32,
	} {
		text := getenv(name)
		if number, err := strconv.Atoi(text); text != "" && (err != nil || number < 1 || number > most) {
			return fmt.Errorf("%s is not a number from 1 to %d", name, most)
		}
	}
	return nil
}

// describe returns what the process is. The environment has the last word.
func describe(version string) *resource.Resource {
	described, err := resource.New(context.Background(),
		resource.WithAttributes(attribute.String("service.name", "gluepot"), attribute.String("service.version", version)),
		resource.WithHost(), resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil { // some of it is missing
		globals.Handle(err)
	}
	return described
}

// propagators returns what reads the span that a request is part of. Of those that OTEL_PROPAGATORS may list, W3C Trace Context is
// known, and the default; baggage is never read.
func propagators(listed string) propagation.TextMapPropagator {
	if listed == "" || slices.ContainsFunc(strings.Split(listed, ","), func(name string) bool {
		return strings.TrimSpace(name) == "tracecontext"
	}) {
		return traceContext{}
	}
	return propagation.NewCompositeTextMapPropagator()
}

// traceContext reads W3C's Trace Context from headers, of which propagation.HeaderCarrier shows the first line alone.
type traceContext struct{ propagation.TraceContext }

// Extract implements propagation.TextMapPropagator.
func (t traceContext) Extract(ctx context.Context, carrier propagation.TextMapCarrier) context.Context {
	header, ok := carrier.(propagation.HeaderCarrier)
	if !ok {
		return t.TraceContext.Extract(ctx, carrier)
	}
	parents, state := header["Traceparent"], strings.Join(header["Tracestate"], ",")
	if len(parents) != 1 { // two callers, of which one is made up
		return ctx
	}
	if len(state) > maxTraceState {
		state = ""
	}
	return t.TraceContext.Extract(ctx, propagation.MapCarrier{"traceparent": parents[0], "tracestate": state})
}

// maxTraceState is how much of a caller's state goes into every span: twice what W3C asks for.
const maxTraceState = 1 << 10

// Close sends what is left until ctx ends. It fails when that was not all.
func (t *Tracer) Close(ctx context.Context) error {
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("the last traces are lost: %w", err)
	}
	return nil
}

// warnings writes one error to the log for each interval, and how many more there have been since the last.
type warnings struct {
	log      *zap.Logger
	interval time.Duration

	mu      sync.Mutex
	written time.Time
	left    int
}

// Handle implements the error handler of OpenTelemetry.
func (w *warnings) Handle(err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.written.IsZero() && time.Since(w.written) < w.interval {
		w.left++
		return
	}
	w.log.Warn("traces were not sent", zap.Error(err), zap.Int("warnings_left_out", w.left))
	w.written, w.left = time.Now(), 0
}
