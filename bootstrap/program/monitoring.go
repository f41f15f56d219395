package program

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/jackc/pgx/v5"
	"go.uber.org/fx"
	"go.uber.org/zap"

	"github.com/gluepot/gluepot/adapters/httpapi"
	"github.com/gluepot/gluepot/adapters/httpapi/limit"
	"github.com/gluepot/gluepot/adapters/metrics"
	"github.com/gluepot/gluepot/adapters/tracing"
	"github.com/gluepot/gluepot/adapters/webhook"
	"github.com/gluepot/gluepot/bootstrap"
)

// metricsModule is left out where Config.AdminAddr is empty. Its listener depends on nothing and is made first, so
// that metrics are served to the end.
var metricsModule = fx.Module("metrics",
	fx.Provide(newMetrics),
	fx.Provide(newAdmin, fx.Private),
	fx.Invoke(
		func(*admin) {},
		func(admin *admin, figures *metrics.Metrics) { admin.Handle("/", figures.Handler()) },
	),
)

// admin is what the listener for metrics serves.
type admin struct{ *http.ServeMux }

func newAdmin(lifecycle fx.Lifecycle, cfg config, log *zap.Logger) *admin {
	a := &admin{http.NewServeMux()}
	var serving *http.Server
	lifecycle.Append(fx.StartStopHook(func(ctx context.Context) (err error) {
		serving, err = metrics.Listen(ctx, cfg.AdminAddr, a, log)
		return err
	}, func() error { return serving.Close() }))
	return a
}

func newMetrics(statistics func() bootstrap.Statistics) *metrics.Metrics {
	return metrics.New(Version(), limit.Names(), func() metrics.Snapshot { return metrics.Snapshot(statistics()) })
}

// webhookModule tells the operator. It is left out where no URL is named. It is first, so that it stops after what
// tells it.
func webhookModule(sender *webhook.Sender) fx.Option {
	return fx.Module("webhook", fx.Invoke(func(lifecycle fx.Lifecycle, log *zap.Logger) {
		lifecycle.Append(fx.StartStopHook(func() { sender.Start(log) }, sender.Stop))
	}))
}

// tracingModule traces if the environment asks for it.
var tracingModule = fx.Module("tracing", fx.Provide(newTraces, (*traces).statements))

// traces are those of requests and of statements.
type traces struct {
	*tracing.Tracer // nil: none

	close func() error // sends those that remain, once
}

// sendTime is how long a stop waits for a collector that hangs.
const sendTime = 2 * time.Second

func newTraces(lifecycle fx.Lifecycle, log *zap.Logger) *traces {
	tracer := tracing.Open(Version(), log)
	t := &traces{tracer, sync.OnceValue(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), sendTime)
		defer cancel()
		return tracer.Close(ctx)
	})}
	lifecycle.Append(fx.StopHook(t.wait))
	return t
}

// send begins to send those that remain. Closing waits for it, and in between the use cases store what is pending.
func (t *traces) send() { go func() { _ = t.close() }() }

func (t *traces) wait() error { return t.close() }

func (t *traces) requests() []gin.HandlerFunc {
	return t.Middleware(httpapi.TraceKey, httpapi.Route, httpapi.PathAlive, httpapi.PathReady)
}

func (t *traces) statements() pgx.QueryTracer { return t.Statements() }
