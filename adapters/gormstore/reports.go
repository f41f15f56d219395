package gormstore

import (
	"context"
	"time"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/adapters/gormstore/connection"
	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

var _ moderation.Reporter = (*Moderation)(nil)

type reportRow struct {
	ID        string `gorm:"primaryKey"`
	PasteID   string
	Reason    string
	Text      string
	CreatedAt time.Time `gorm:"autoCreateTime:false"`
}

func (reportRow) TableName() string { return "reports" }

// Report implements moderation.Reporter.
func (m *Moderation) Report(
	ctx context.Context, report moderation.Report, reader user.ID, client paste.Client, quota paste.Quota,
) error {
	pastes := NewPastes(m.store)
	return m.store.WritePaste(ctx, func(tx *gorm.DB) error {
		row, err := pastes.lockedRow(tx, report.Paste)
		if err != nil {
			return err
		}
		if err := row.outline().ReadableBy(reader); err != nil {
			return connection.Refused(err)
		}
		if _, err := pastes.takeQuota(tx, client, quota); err != nil {
			return err
		}
		return tx.Create(&reportRow{report.ID, row.ID, report.Reason, report.Text, connection.Instant(report.At)}).Error
	})
}

// Reports implements moderation.Reporter.
func (m *Moderation) Reports(ctx context.Context, after moderation.Report, limit int) ([]moderation.Report, error) {
	var rows []reportRow
	query := m.store.Read(ctx).Order("created_at, id").Limit(limit)
	if after.ID != "" {
		query = query.Where("(created_at, id) > (?, ?)", connection.Instant(after.At), after.ID)
	}
	if err := query.Find(&rows).Error; err != nil {
		return nil, connection.Translate(err)
	}
	reports := make([]moderation.Report, len(rows))
	for i, row := range rows {
		reports[i] = moderation.Report{
			ID: row.ID, Paste: paste.ID(row.PasteID), Reason: row.Reason, Text: row.Text, At: row.CreatedAt.UTC(),
		}
	}
	return reports, nil
}

// CloseReport implements moderation.Reporter.
func (m *Moderation) CloseReport(ctx context.Context, id string) error {
	if !connection.IsText(id) {
		return connection.ErrNotFound
	}
	return m.store.Transaction(ctx, func(tx *gorm.DB) error {
		return connection.OrNotFound(tx.Where("id = ?", id).Delete(&reportRow{}))
	})
}
