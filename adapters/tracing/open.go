package tracing

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// Open returns a tracer for a process of that version, as the environment configures it. It returns nil if the
// environment names neither an endpoint nor an exporter, or turns tracing off. An unsupported setting is only a
// warning: OpenTelemetry says that a service must not fail because of its monitoring.
//
// From now on, OpenTelemetry's only error handler, which is that of the whole process, writes to log. So Open is for
// programs.
func Open(version string, log *zap.Logger) *Tracer {
	endpoint, err := endpointFromEnvironment()
	if err != nil {
		log.Warn("traces are off: the environment asks for something that Gluepot does not support", zap.Error(err))
		return nil
	}
	if endpoint == nil {
		return nil
	}
	report(log, endpoint)
	exporter, err := otlptracehttp.New(context.Background())
	if err != nil {
		otel.Handle(err)
		return nil
	}
	process, err := resource.New(context.Background(),
		resource.WithAttributes(attribute.String("service.name", "gluepot"), attribute.String("service.version", version)),
		resource.WithHost(), resource.WithTelemetrySDK(), resource.WithFromEnv()) // the environment has the last word
	if err != nil { // the resource is incomplete
		otel.Handle(err)
	}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(publicExporter{exporter}), sdk.WithResource(process))
	log.Info("sending traces", zap.String("endpoint", endpoint.Scheme+"://"+endpoint.Host)) // the rest may be a secret
	return &Tracer{provider}
}

// endpointFromEnvironment returns where traces go, or nil if the environment asks for none. The exporter and the SDK
// read the other variables themselves.
func endpointFromEnvironment() (*url.URL, error) {
	text := cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"))
	exporter := strings.TrimSpace(os.Getenv("OTEL_TRACES_EXPORTER"))
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") || exporter == "none" || exporter == "" && text == "" {
		return nil, nil //nolint:nilnil // there is no endpoint
	}
	if exporter != "" && exporter != "otlp" {
		return nil, fmt.Errorf("OTEL_TRACES_EXPORTER is %q: give otlp or none", exporter)
	}
	protocol := cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"))
	if protocol != "" && protocol != "http/protobuf" && protocol != "http/json" {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %q: give http/protobuf or http/json, usually at port 4318",
			protocol)
	}
	// The SDK panics when it cannot allocate its queue.
	for _, name := range []string{"OTEL_BSP_MAX_QUEUE_SIZE", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "OTEL_BSP_SCHEDULE_DELAY"} {
		const most = 100_000_000
		if number, err := strconv.Atoi(cmp.Or(os.Getenv(name), "1")); err != nil || number < 1 || number > most {
			return nil, fmt.Errorf("%s is not a number from 1 to %d", name, most)
		}
	}
	endpoint, err := url.Parse(cmp.Or(text, "http://localhost:4318"))
	// The error must not quote it, because it may hold a password.
	if err != nil || endpoint.Host == "" || endpoint.Scheme != "http" && endpoint.Scheme != "https" {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_ENDPOINT is not a URL that begins with http:// or https://")
	}
	return endpoint, nil
}

// report writes OpenTelemetry's errors to a log: each at most once a minute, and without the path of the endpoint,
// which may be secret. OpenTelemetry's own log is off, because it quotes settings.
func report(log *zap.Logger, endpoint *url.URL) {
	log = log.WithOptions(zap.WrapCore(func(core zapcore.Core) zapcore.Core {
		return zapcore.NewSamplerWithOptions(core, time.Minute, 1, 0)
	}))
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		text := err.Error()
		if path := strings.Trim(endpoint.Path, "/"); path != "" {
			text = strings.ReplaceAll(text, path, "…")
		}
		log.Warn("traces were not sent", zap.String("error", text))
	}))
	otel.SetLogger(logr.Discard())
}

// Close sends the remaining spans, until ctx ends. It fails if it could not send all.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("the last traces are lost: %w", err)
	}
	return nil
}
