package gormstore

import (
	"context"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/adapters/gormstore/connection"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

var (
	_ paste.Starrer = (*Pastes)(nil)
)

type starRow struct {
	UserID   string `gorm:"primaryKey"`
	PasteID  string `gorm:"primaryKey"`
	Position int
}

func (starRow) TableName() string { return "stars" }

// Star implements paste.Starrer.
func (p *Pastes) Star(ctx context.Context, starrer user.ID, id paste.ID) error {
	return p.store.Transaction(ctx, func(tx *gorm.DB) error {
		if err := connection.ForUpdate(tx).Where("id = ?", string(starrer)).Take(&userRow{}).Error; err != nil {
			return err
		}
		return tx.Exec(`INSERT INTO stars (user_id, paste_id, position)
			SELECT ?, ?, coalesce(max(s.position) + 1, 0) FROM stars s WHERE s.user_id = ?
			ON CONFLICT (user_id, paste_id) DO NOTHING`, string(starrer), string(id), string(starrer)).Error
	})
}

// Unstar implements paste.Starrer.
func (p *Pastes) Unstar(ctx context.Context, starrer user.ID, id paste.ID) error {
	return deleteOne(ctx, p.store, &starRow{}, "paste_id = ? AND user_id = ?", string(id), string(starrer))
}
