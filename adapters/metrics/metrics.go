// Package metrics serves a node's figures for monitoring, in the text format of Prometheus, and Go's profiles, on a
// listener of its own. Names and labels follow OpenTelemetry's semantic conventions where there are any.
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

// Snapshot has the figures that are collected whenever Prometheus reads. Its fields are those of bootstrap.Statistics.
type Snapshot struct {
	Connections sql.DBStats

	Totals        stats.Totals // zero until they are counted
	StoreMaxBytes int64        // 0: no limit

	PastesCreated, PastesSwept, FailedSweeps, RejectedSignIns int64
	PendingUses                                               int
}

// durations are the bucket bounds for the durations of requests, in seconds: OpenTelemetry's, and finer ones below a
// millisecond, for look-ups.
var durations = []float64{.00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// New returns the figures of a process of that version with those limits. It calls snapshot at once, and whenever
// Prometheus reads.
func New(version string, limits []string, snapshot func() Snapshot) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "http_server_request_duration_seconds", Help: "How long requests took, from their headers to their answer.",
			Buckets: durations,
		}, []string{"http_request_method", "http_route", "http_response_status_code"}),
		active: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "http_server_active_requests", Help: "Requests that are being answered.",
		}, []string{"http_request_method"}),
		limited: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "gluepot_requests_limited_total", Help: "Requests that a limit has refused.",
		}, []string{"limit"}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "gluepot_build_info", Help: "Always 1; its label is the version.",
		ConstLabels: prometheus.Labels{"version": version},
	})
	build.Set(1)
	for _, limit := range limits {
		m.limited.WithLabelValues(limit) // from zero, so that the first one shows
	}
	m.registry.MustRegister(m.duration, m.active, m.limited, build,
		prometheus.CollectorFunc(func(out chan<- prometheus.Metric) { collect(snapshot(), out) }),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Begin counts a request that begins, and returns the function to call when it ends.
func (m *Metrics) Begin(method, route string) (end func(status int)) {
	start, active := time.Now(), m.active.WithLabelValues(method)
	active.Inc()
	return func(status int) {
		active.Dec()
		m.duration.WithLabelValues(method, route, strconv.Itoa(status)).Observe(time.Since(start).Seconds())
	}
}

// Limited counts a request that a limit has refused.
func (m *Metrics) Limited(limit string) { m.limited.WithLabelValues(limit).Inc() }

// collect sends the figures of a snapshot. It leaves out totals that are not counted yet.
func collect(now Snapshot, out chan<- prometheus.Metric) {
	const counter, gauge = prometheus.CounterValue, prometheus.GaugeValue
	// label is the name of a label and its value, or nothing.
	send := func(kind prometheus.ValueType, name, help string, value float64, label ...string) {
		names, values := label[:len(label)/2], label[len(label)/2:]
		out <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, names, nil), kind, value, values...)
	}
	send(counter, "gluepot_pastes_created_total", "Pastes created by users and visitors.", float64(now.PastesCreated))
	send(counter, "gluepot_pastes_swept_total", "Expired pastes that this node has removed.", float64(now.PastesSwept))
	send(counter, "gluepot_sweeps_failed_total", "Sweeps that ended with an error.", float64(now.FailedSweeps))
	send(counter, "gluepot_sign_ins_rejected_total", "Requests with an invalid access token.",
		float64(now.RejectedSignIns))
	send(gauge, "gluepot_token_uses_pending", "Tokens whose last-used times are not stored yet.", float64(now.PendingUses))

	const connections, state = "db_client_connection_count", "db_client_connection_state"
	send(gauge, connections, "Connections to the database.", float64(now.Connections.InUse), state, "used")
	send(gauge, connections, "Connections to the database.", float64(now.Connections.Idle), state, "idle")
	send(gauge, "db_client_connection_max", "The maximum number of open connections to the database.",
		float64(now.Connections.MaxOpenConnections))
	send(counter, "db_client_connection_waits_total", "How often a statement had to wait for a connection.",
		float64(now.Connections.WaitCount))
	send(counter, "db_client_connection_wait_seconds_total",
		"How long statements waited for a connection, in all.",
		now.Connections.WaitDuration.Seconds())

	totals := now.Totals
	if len(totals.Days) == 0 { // they were not counted yet
		return
	}
	send(gauge, "gluepot_users", "Users.", float64(totals.Users))
	send(gauge, "gluepot_tokens", "Access tokens, revoked and expired ones included.", float64(totals.Tokens))
	const pastes, bytes = "Pastes that are stored.", "Bytes of content, of history and of the database."
	send(gauge, "gluepot_pastes", pastes, float64(totals.ActivePastes), "state", "active")
	send(gauge, "gluepot_pastes", pastes, float64(totals.ExpiredPastes), "state", "expired")
	send(gauge, "gluepot_stored_bytes", bytes, float64(totals.ContentBytes), "kind", "content")
	send(gauge, "gluepot_stored_bytes", bytes, float64(totals.HistoryBytes), "kind", "history")
	send(gauge, "gluepot_stored_bytes", bytes, float64(totals.DatabaseBytes), "kind", "database")
	send(gauge, "gluepot_stored_bytes_limit", "Bytes of content and history that may be stored; 0 means no limit.",
		float64(now.StoreMaxBytes))
	send(gauge, "gluepot_open_reports", "Reports by readers that no administrator has closed.",
		float64(totals.OpenReports))
	for i, holder := range totals.Largest {
		send(gauge, "gluepot_largest_users_bytes", "Bytes of content and history of the users who have most, from rank 1.",
			float64(holder.Bytes), "rank", strconv.Itoa(i+1))
	}
	for i, day := range totals.Days {
		send(gauge, "gluepot_pastes_created_by_day", "Stored pastes by how many days ago they were created, in UTC.",
			float64(day.Pastes), "days_ago", strconv.Itoa(i))
	}
}
