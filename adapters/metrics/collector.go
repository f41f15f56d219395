package metrics

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// collector reads a snapshot whenever it is asked.
type collector struct{ snapshot func() Snapshot }

// Describe implements prometheus.Collector. It says nothing of the figures: some are there only once they were counted.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	counter := func(name, help string, value float64) {
		out <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, nil, nil), prometheus.CounterValue, value)
	}
	gauge := func(name, help string, value float64) {
		out <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, nil, nil), prometheus.GaugeValue, value)
	}
	labelled := func(name, help, label, labelValue string, value float64) {
		out <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, []string{label}, nil), prometheus.GaugeValue, value, labelValue)
	}
	now := c.snapshot()
	counter("gluepot_pastes_created_total", "Pastes created by users and visitors.", float64(now.PastesCreated))
	counter("gluepot_pastes_swept_total", "Expired pastes that this node has removed.", float64(now.PastesSwept))
	counter("gluepot_sweeps_failed_total", "Sweeps that ended with an error.", float64(now.FailedSweeps))
	counter("gluepot_sign_ins_rejected_total", "Access tokens presented that were not valid.", float64(now.RejectedSignIns))
	gauge("gluepot_token_uses_pending", "Tokens whose last-used times are not stored yet.", float64(now.PendingUses))

	const connections, state = "db_client_connection_count", "db_client_connection_state"
	labelled(connections, "Connections to the database.", state, "used", float64(now.Connections.InUse))
	labelled(connections, "Connections to the database.", state, "idle", float64(now.Connections.Idle))
	gauge("db_client_connection_max", "The most connections to the database that may be open.", float64(now.Connections.MaxOpenConnections))
	counter("db_client_connection_waits_total", "How often a statement had to wait for a connection.", float64(now.Connections.WaitCount))
	counter("db_client_connection_wait_seconds_total", "How long statements waited for a connection, taken together.",
		now.Connections.WaitDuration.Seconds())

	totals := now.Totals
	if len(totals.Days) == 0 { // they were not counted yet
		return
	}
	gauge("gluepot_users", "Users.", float64(totals.Users))
	gauge("gluepot_tokens", "Access tokens, revoked and expired ones included.", float64(totals.Tokens))
	const pastes, bytes = "Pastes that are stored.", "Bytes of content, of history and of the database."
	labelled("gluepot_pastes", pastes, "state", "active", float64(totals.ActivePastes))
	labelled("gluepot_pastes", pastes, "state", "expired", float64(totals.ExpiredPastes))
	labelled("gluepot_stored_bytes", bytes, "kind", "content", float64(totals.ContentBytes))
	labelled("gluepot_stored_bytes", bytes, "kind", "history", float64(totals.HistoryBytes))
	labelled("gluepot_stored_bytes", bytes, "kind", "database", float64(totals.DatabaseBytes))
	gauge("gluepot_stored_bytes_limit", "Bytes of content and history that may be stored; 0 is no limit.", float64(now.StoreMaxBytes))
	for i, held := range totals.Largest {
		labelled("gluepot_largest_users_bytes", "Bytes of content and history of the users who have most, from rank 1.",
			"rank", strconv.Itoa(i+1), float64(held.Bytes))
	}
	for i, day := range totals.Days {
		labelled("gluepot_pastes_created_by_day", "Stored pastes by how many days ago they were created, in UTC.",
			"days_ago", strconv.Itoa(i), float64(day.Pastes))
	}
}
