package program

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/gluepot/gluepot/adapters/httpapi"
	"github.com/gluepot/gluepot/adapters/tracing"
)

// traceFlushTime bounds the sending of the last traces, during the stop of the use cases.
const traceFlushTime = 2 * time.Second

// openTraces traces requests and statements if OpenTelemetry's variables ask for it. Otherwise it returns nil.
func openTraces(cfg *config, log *zap.Logger) *tracing.Tracer {
	tracer := tracing.Open(Version(), log)
	if tracer != nil {
		cfg.Database.Tracer = tracer.Statements()
		cfg.HTTP.Tracing = tracer.Middleware(httpapi.TraceKey, httpapi.Route, httpapi.PathAlive, httpapi.PathReady)
	}
	return tracer
}

// closeTraces sends the remaining spans of a tracer, which may be nil.
func closeTraces(tracer *tracing.Tracer) error {
	if tracer == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), traceFlushTime)
	defer cancel()
	return tracer.Close(ctx)
}
