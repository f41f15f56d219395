// Package metrics has a node's figures for monitoring: figures in the text form of Prometheus and Go's profiles,
// on a listener of its own. Names and labels follow OpenTelemetry's semantic conventions where there are any.
package metrics

import (
	"database/sql"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/gluepot/gluepot/domain/stats"
)

// Metrics are the figures of a process.
type Metrics struct {
	registry *prometheus.Registry
	duration *prometheus.HistogramVec
	active   *prometheus.GaugeVec
	limited  *prometheus.CounterVec
}

// Snapshot is what is asked for whenever the figures are. It has the fields of bootstrap.Statistics.
type Snapshot struct {
	Connections sql.DBStats

	Totals        stats.Totals // zero before they were counted
	StoreMaxBytes int64        // 0: no limit

	PastesCreated, PastesSwept, FailedSweeps, RejectedSignIns int64
	PendingUses                                               int
}

// durations are the bounds in seconds of what requests take: OpenTelemetry's, with finer ones below a look-up's
// millisecond.
var durations = []float64{.00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// New returns the figures of a process of that version. snapshot is called once whenever they are read.
func New(version string, snapshot func() Snapshot) *Metrics {
	m := &Metrics{
		registry: prometheus.NewPedanticRegistry(),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "http_server_request_duration_seconds", Help: "How long requests took, from their headers to their answer.",
			Buckets: durations,
		}, []string{"http_request_method", "http_route", "http_response_status_code"}),
		active: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "http_server_active_requests", Help: "Requests that are being answered.",
		}, []string{"http_request_method"}),
		limited: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gluepot_requests_limited_total", Help: "Requests that a limit of their clients has refused.",
		}, []string{"limit"}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "gluepot_build_info", Help: "Always 1; its label is the version.", ConstLabels: prometheus.Labels{"version": version},
	})
	build.Set(1)
	m.registry.MustRegister(m.duration, m.active, m.limited, build, &collector{snapshot},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Began counts a request in, and returns what counts it out.
func (m *Metrics) Began(method, route string) (ended func(status int)) {
	began, active := time.Now(), m.active.WithLabelValues(method)
	active.Inc()
	return func(status int) {
		active.Dec()
		m.duration.WithLabelValues(method, route, strconv.Itoa(status)).Observe(time.Since(began).Seconds())
	}
}

// Limited returns a function that counts a request which one of those limits has refused.
func (m *Metrics) Limited(limits []string) func(limit string) {
	for _, limit := range limits {
		m.limited.WithLabelValues(limit) // from zero, so that the first one shows
	}
	return func(limit string) { m.limited.WithLabelValues(limit).Inc() }
}
