package gormstore

import (
	"context"
	"time"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/adapters/gormstore/connection"
	"github.com/gluepot/gluepot/domain/audit"
)

type auditRow struct {
	ID     string `gorm:"primaryKey"`
	At     time.Time
	Actor  string
	Act    string
	Target string
	Reason string
}

func (auditRow) TableName() string { return "audit_log" }

// note writes down the act that a transaction does, if there is one.
func note(ctx context.Context, s *connection.Store, tx *gorm.DB) error {
	entry, ok := audit.Noted(ctx)
	if !ok {
		return nil
	}
	return tx.Create(&auditRow{entry.ID, connection.Instant(s.Clock()), entry.Actor, entry.Act, entry.Target, entry.Reason}).Error
}

var _ audit.Lister = (*Moderation)(nil)

// Entries implements audit.Lister.
func (m *Moderation) Entries(ctx context.Context, after audit.Entry, limit int) ([]audit.Entry, error) {
	var rows []auditRow
	query := m.store.Read(ctx).Order("at DESC, id DESC").Limit(limit)
	if after.ID != "" {
		query = query.Where("(at, id) < (?, ?)", connection.Instant(after.At), after.ID)
	}
	if err := query.Find(&rows).Error; err != nil {
		return nil, connection.Translate(err)
	}
	entries := make([]audit.Entry, len(rows))
	for i, row := range rows {
		entries[i] = audit.Entry{ID: row.ID, At: row.At.UTC(), Actor: row.Actor, Act: row.Act, Target: row.Target, Reason: row.Reason}
	}
	return entries, nil
}
