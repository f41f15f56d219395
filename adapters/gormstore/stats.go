package gormstore

import (
	"context"
	"time"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/adapters/gormstore/db"
	"github.com/gluepot/gluepot/adapters/gormstore/model"
	"github.com/gluepot/gluepot/domain/stats"
)

// Stats counts users, tokens, pastes and bytes.
type Stats struct{ store *db.Store }

// NewStats returns the statistics of a store.
func NewStats(store *db.Store) *Stats { return &Stats{store: store} }

const (
	countRows = `SELECT (SELECT count(*) FROM users) AS users,
			(SELECT count(*) FROM access_tokens WHERE kind = 0) AS tokens,
			(SELECT count(*) FROM stars s WHERE NOT EXISTS (
				SELECT 1 FROM pastes p WHERE p.id = s.paste_id AND p.removed_at IS NULL)) AS waiting_stars,
			a.all_pastes - a.expired_pastes AS active_pastes, a.expired_pastes
		FROM (SELECT count(*) AS all_pastes, count(CASE WHEN expires_at <= ? THEN 1 END) AS expired_pastes
			FROM pastes WHERE removed_at IS NULL) a`
	largestHolders = `SELECT u.username, a.pastes, a.bytes FROM (
			SELECT owner_id, count(*) AS pastes, cast(sum(content_bytes + history_bytes) AS bigint) AS bytes
			FROM pastes WHERE owner_id IS NOT NULL AND removed_at IS NULL
			GROUP BY owner_id ORDER BY bytes DESC, owner_id LIMIT ?) a
		JOIN users u ON u.id = a.owner_id ORDER BY a.bytes DESC, a.owner_id`
)

// Totals implements stats.Counter. It scans users, tokens, stars and pastes in one snapshot: for operators, not for
// requests.
func (s *Stats) Totals(ctx context.Context) (totals stats.Totals, err error) {
	err = s.store.Snapshot(ctx, func(tx *gorm.DB) error {
		now, err := s.store.Time(tx)
		if err != nil {
			return err
		}
		if err := tx.Raw(countRows, s.store.Now()).Scan(&totals.Counts).Error; err != nil {
			return err
		}
		if err = openReports(tx.Model(new(model.Report))).Count(&totals.OpenReports).Error; err != nil {
			return err
		}
		err = tx.Raw(`SELECT (` + s.store.Dialect().Size + `) AS database_bytes,
				cast(coalesce(sum(content_bytes), 0) AS bigint) AS content_bytes,
				cast(coalesce(sum(history_bytes), 0) AS bigint) AS history_bytes
			FROM pastes WHERE removed_at IS NULL`).Scan(&totals.Bytes).Error
		if err != nil {
			return err
		}
		if err := tx.Raw(largestHolders, stats.MostHolders).Scan(&totals.Largest).Error; err != nil {
			return err
		}
		totals.Days, err = s.days(tx, now.Truncate(oneDay))
		return err
	}, s.store.Slow, s.store.Pastes)
	return totals, err
}

const oneDay = 24 * time.Hour

// days returns how many pastes were created today, and on the days before.
func (s *Stats) days(tx *gorm.DB, today time.Time) ([]stats.Day, error) {
	var rows []struct{ Day, Pastes int64 }
	err := tx.Raw(`SELECT `+s.store.Dialect().Day+` AS day, count(*) AS pastes FROM pastes
		WHERE created_at >= ? AND removed_at IS NULL GROUP BY 1`,
		model.Instant(today.Add(-(stats.MostDays-1)*oneDay))).Scan(&rows).Error
	days := make([]stats.Day, stats.MostDays)
	for i := range days {
		days[i].Begin = today.Add(-time.Duration(i) * oneDay)
		for _, row := range rows {
			if row.Day == days[i].Begin.Unix()/int64(oneDay.Seconds()) {
				days[i].Pastes = row.Pastes
			}
		}
	}
	return days, err
}
