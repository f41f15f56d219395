package gormstore

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/adapters/gormstore/db"
	"github.com/gluepot/gluepot/adapters/gormstore/model"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// Moderation finds, removes and hides pastes for operators, and keeps reports, blocks and the audit log.
type Moderation struct{ store *db.Store }

// NewModeration returns the moderation of a store.
func NewModeration(store *db.Store) *Moderation { return &Moderation{store} }

// moderatedRow is a paste as operators see it in a list, and whether it matches their filter.
type moderatedRow struct {
	Listed    listedRow `gorm:"embedded"`
	Suspended bool
	Bytes     int64
	RemovedAt time.Time
	RemovedBy string
	Reason    string
	Matched   bool
}

const (
	moderatedColumns = `p.id, p.owner_id, coalesce(u.username, '') AS owner_name,
		coalesce(u.suspended, FALSE) AS suspended, p.created_at, p.expires_at, p.visibility, p.encrypted,
		substr(p.title, 1, 200) AS title, p.content_bytes + p.history_bytes AS bytes,
		coalesce(substr(q.title, 1, 200), '') AS pasty_title,
		coalesce(CASE WHEN NOT p.burns AND p.visibility <> 2 AND p.removed_at IS NULL
			THEN substr(q.code, 1, 200) END, '') AS beginning`
	removedColumns = `, p.removed_at, t.removed_by,
		CASE WHEN p.hidden THEN 'hidden with its user' ELSE t.reason END AS reason`
)

// Pastes implements moderation.Store.
func (m *Moderation) Pastes(
	ctx context.Context, filter moderation.Filter, after paste.Cursor, window int,
) (pastes []moderation.Paste, last paste.Cursor, err error) {
	var rows []moderatedRow
	err = m.store.List(ctx, func(tx *gorm.DB) error {
		query := tx.Table("(?) p", m.window(tx.Table("pastes"), filter, after, window)).
			Joins("LEFT JOIN users u ON u.id = p.owner_id LEFT JOIN pasties q ON q.paste_id = p.id AND q.position = 0")
		columns := moderatedColumns
		if filter.Removed {
			columns += removedColumns
			query = query.Joins("JOIN tombstones t ON t.kind = 'paste' AND t.id = p.id")
		}
		condition, values := matchCondition(filter)
		return query.Select(columns+", ("+condition+") AS matched", values...).
			Order("p.created_at DESC, p.id DESC").Scan(&rows).Error
	})
	if err != nil {
		return nil, paste.Cursor{}, err
	}
	for _, row := range rows {
		summary := row.Listed.domain()
		last = summary.Cursor()
		if !row.Matched {
			continue
		}
		pastes = append(pastes, moderation.Paste{
			Summary: summary, Suspended: row.Suspended, Bytes: row.Bytes,
			RemovedAt: row.RemovedAt.UTC(), RemovedBy: row.RemovedBy, Reason: row.Reason,
		})
	}
	if len(rows) < window {
		last = paste.Cursor{} // there are no more
	}
	return pastes, last, nil
}

// window applies the part of a filter that indexes answer, and selects the first pastes after a cursor.
func (m *Moderation) window(query *gorm.DB, filter moderation.Filter, after paste.Cursor, limit int) *gorm.DB {
	if filter.Removed { // literals, for a partial index
		query = query.Where("removed_at IS NOT NULL")
	} else {
		query = query.Where("removed_at IS NULL")
	}
	if filter.Owner != "" {
		query = query.Where("owner_id = ?", string(filter.Owner))
	}
	if filter.Anonymous {
		query = query.Where("owner_id IS NULL").Order("owner_id") // as the index has them
	}
	if filter.Reported {
		query = query.Where("id IN (SELECT paste_id FROM reports)")
	}
	if !filter.Since.IsZero() {
		query = query.Where("created_at >= ?", model.Instant(filter.Since))
	}
	if !filter.Until.IsZero() {
		query = query.Where("created_at < ?", model.Instant(filter.Until))
	}
	return latest(query, "created_at", "id", after.CreatedAt, string(after.ID), limit)
}

// matchCondition returns a condition, and its values, for the part of a filter that looks at each paste. replace() has
// no wildcards, unlike LIKE.
func matchCondition(filter moderation.Filter) (condition string, values []any) {
	conditions := []string{"p.content_bytes + p.history_bytes > ?"}
	values = []any{filter.LargerThan - 1}
	add := func(condition, value string) {
		for range strings.Count(condition, "?") {
			values = append(values, model.Text(value))
		}
		conditions = append(conditions, condition)
	}
	const ofPasty = "EXISTS (SELECT 1 FROM pasties q WHERE q.paste_id = p.id AND "
	if filter.Language != "" {
		add(ofPasty+"q.language = ?)", filter.Language)
	}
	if filter.Title != "" {
		add("(replace(p.title, ?, '') <> p.title OR "+ofPasty+"replace(q.title, ?, '') <> q.title))", filter.Title)
	}
	if filter.Contains != "" {
		add(ofPasty+"replace(q.code, ?, '') <> q.code)", filter.Contains)
	}
	return strings.Join(conditions, " AND "), values
}

// Report implements moderation.Store.
func (m *Moderation) Report(
	ctx context.Context, from netip.Addr, report moderation.Report, reader user.ID, client paste.Client, quota paste.Quota,
) error {
	pastes := NewPastes(m.store)
	return m.store.WritePaste(ctx, m.store.RefuseBlocked(from, func(tx *gorm.DB) error {
		row, err := pastes.lockRow(tx, report.Paste)
		if err != nil {
			return err
		}
		if err := row.WithoutContent().ReportableBy(reader); err != nil {
			return err
		}
		if _, err := pastes.takeQuota(tx, client, quota); err != nil {
			return err
		}
		return tx.Create(&model.Report{
			ID: report.ID, PasteID: row.ID, Reason: report.Reason, Text: report.Text, CreatedAt: model.Instant(report.At),
		}).Error
	}))
}

// Reports implements moderation.Store.
func (m *Moderation) Reports(ctx context.Context, after moderation.Report, limit int) ([]moderation.Report, error) {
	query := openReports(m.store.Read(ctx)).Order("created_at, id").Limit(limit)
	if after.ID != "" {
		query = query.Where("(created_at, id) > (?, ?)", model.Instant(after.At), after.ID)
	}
	return list(query, func(row *model.Report) (moderation.Report, error) {
		return moderation.Report{
			ID: row.ID, Paste: paste.ID(row.PasteID), Reason: row.Reason, Text: row.Text, At: row.CreatedAt.UTC(),
		}, nil
	})
}

// openReports leaves out reports of pastes that were removed or hidden.
func openReports(query *gorm.DB) *gorm.DB {
	return query.Where("paste_id IN (SELECT id FROM pastes WHERE removed_at IS NULL)")
}

// CloseReport implements moderation.Store.
func (m *Moderation) CloseReport(ctx context.Context, entry auditlog.Entry, id string) error {
	return m.store.Record(ctx, entry, m.store.Transaction, deleteOne(&model.Report{}, "id = ?", id))
}

// Entries implements moderation.Store.
func (m *Moderation) Entries(ctx context.Context, after auditlog.Entry, limit int) ([]auditlog.Entry, error) {
	query := latest(m.store.Read(ctx), "at", "id", after.At, after.ID, limit)
	return list(query, func(row *model.AuditEntry) (auditlog.Entry, error) {
		return auditlog.Entry{
			ID: row.ID, At: row.At.UTC(), Actor: row.Actor, Act: row.Act, Target: row.Target, Reason: row.Reason,
		}, nil
	})
}
