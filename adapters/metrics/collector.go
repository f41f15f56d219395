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
	const counter, gauge = prometheus.CounterValue, prometheus.GaugeValue
	send := func(kind prometheus.ValueType, name, help string, value float64, label ...string) { // a label's name and its value, or none
		names, values := label[:len(label)/2], label[len(label)/2:]
		out <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, names, nil), kind, value, values...)
	}
	now := c.snapshot()
	send(counter, "gluepot_pastes_created_total", "Pastes created by users and visitors.", float64(now.PastesCreated))
	send(counter, "gluepot_pastes_swept_total", "Expired pastes that this node has removed.", float64(now.PastesSwept))
	send(counter, "gluepot_sweeps_failed_total", "Sweeps that ended with an error.", float64(now.FailedSweeps))
	send(counter, "gluepot_sign_ins_rejected_total", "Access tokens presented that were not valid.", float64(now.RejectedSignIns))
	send(gauge, "gluepot_token_uses_pending", "Tokens whose last-used times are not stored yet.", float64(now.PendingUses))

	const connections, state = "db_client_connection_count", "db_client_connection_state"
	send(gauge, connections, "Connections to the database.", float64(now.Connections.InUse), state, "used")
	send(gauge, connections, "Connections to the database.", float64(now.Connections.Idle), state, "idle")
	send(gauge, "db_client_connection_max", "The most connections to the database that may be open.",
		float64(now.Connections.MaxOpenConnections))
	send(counter, "db_client_connection_waits_total", "How often a statement had to wait for a connection.",
		float64(now.Connections.WaitCount))
	send(counter, "db_client_connection_wait_seconds_total", "How long statements waited for a connection, taken together.",
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
	send(gauge, "gluepot_stored_bytes_limit", "Bytes of content and history that may be stored; 0 is no limit.", float64(now.StoreMaxBytes))
	for i, held := range totals.Largest {
		send(gauge, "gluepot_largest_users_bytes", "Bytes of content and history of the users who have most, from rank 1.",
			float64(held.Bytes), "rank", strconv.Itoa(i+1))
	}
	for i, day := range totals.Days {
		send(gauge, "gluepot_pastes_created_by_day", "Stored pastes by how many days ago they were created, in UTC.",
			float64(day.Pastes), "days_ago", strconv.Itoa(i))
	}
}
