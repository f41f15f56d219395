package tracing

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
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
	log.Info("sending traces", zap.String("endpoint", client.endpoint.Redacted()))
	return newTracer(provider, propagators(os.Getenv("OTEL_PROPAGATORS")))
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
		return propagation.TraceContext{}
	}
	return propagation.NewCompositeTextMapPropagator()
}

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
