package metrics

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// collector reads a snapshot whenever it is asked.
type collector struct{ snapshot func() Snapshot }

var (
	pastesCreated   = desc("gluepot_pastes_created_total", "Pastes created by users and visitors.")
	pastesSwept     = desc("gluepot_pastes_swept_total", "Expired pastes that this node has removed.")
	failedSweeps    = desc("gluepot_sweeps_failed_total", "Sweeps that ended with an error.")
	rejectedSignIns = desc("gluepot_sign_ins_rejected_total", "Access tokens presented that were not valid.")
	pendingUses     = desc("gluepot_token_uses_pending", "Tokens whose last-used times are not stored yet.")

	connections   = desc("db_client_connection_count", "Connections to the database.", "db_client_connection_state")
	connectionMax = desc("db_client_connection_max", "The most connections to the database that may be open.")
	waits         = desc("db_client_connection_waits_total", "How often a statement had to wait for a connection.")
	waitTime      = desc("db_client_connection_wait_seconds_total", "How long statements waited for a connection, taken together.")

	users         = desc("gluepot_users", "Users.")
	tokens        = desc("gluepot_tokens", "Access tokens, revoked and expired ones included.")
	storedPastes  = desc("gluepot_pastes", "Pastes that are stored.", "state")
	storedBytes   = desc("gluepot_stored_bytes", "Bytes of content, of history and of the database.", "kind")
	storeMaxBytes = desc("gluepot_stored_bytes_limit", "Bytes of content and history that may be stored; 0 is no limit.")
	largestBytes  = desc("gluepot_largest_users_bytes", "Bytes of content and history of the users who have most, from rank 1.", "rank")
	createdByDay  = desc("gluepot_pastes_created_by_day", "Stored pastes by how many days ago they were created, in UTC.", "days_ago")
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, each := range []*prometheus.Desc{
		pastesCreated, pastesSwept, failedSweeps, rejectedSignIns, pendingUses, connections, connectionMax, waits, waitTime,
		users, tokens, storedPastes, storedBytes, storeMaxBytes, largestBytes, createdByDay,
	} {
		out <- each
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	now := c.snapshot()
	counter := func(of *prometheus.Desc, value float64) {
		out <- prometheus.MustNewConstMetric(of, prometheus.CounterValue, value)
	}
	gauge := func(of *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(of, prometheus.GaugeValue, value, labels...)
	}
	counter(pastesCreated, float64(now.PastesCreated))
	counter(pastesSwept, float64(now.PastesSwept))
	counter(failedSweeps, float64(now.FailedSweeps))
	counter(rejectedSignIns, float64(now.RejectedSignIns))
	gauge(pendingUses, float64(now.PendingUses))
	if totals := now.Totals; len(totals.Days) > 0 {
		gauge(users, float64(totals.Users))
		gauge(tokens, float64(totals.Tokens))
		gauge(storedPastes, float64(totals.ActivePastes), "active")
		gauge(storedPastes, float64(totals.ExpiredPastes), "expired")
		gauge(storedBytes, float64(totals.ContentBytes), "content")
		gauge(storedBytes, float64(totals.HistoryBytes), "history")
		gauge(storedBytes, float64(totals.DatabaseBytes), "database")
		gauge(storeMaxBytes, float64(now.StoreMaxBytes))
		for i, held := range totals.Largest {
			gauge(largestBytes, float64(held.Bytes), strconv.Itoa(i+1))
		}
		for i, day := range totals.Days {
			gauge(createdByDay, float64(day.Pastes), strconv.Itoa(i))
		}
	}
	gauge(connections, float64(now.Pool.InUse), "used")
	gauge(connections, float64(now.Pool.Idle), "idle")
	gauge(connectionMax, float64(now.Pool.MaxOpenConnections))
	counter(waits, float64(now.Pool.WaitCount))
	counter(waitTime, now.Pool.WaitDuration.Seconds())
}
