package gormstore

import (
	"context"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

var (
	_ paste.Starrer   = (*Pastes)(nil)
	_ paste.Unstarrer = (*Pastes)(nil)
)

// Star implements paste.Starrer. Its time grows with the number of the user's stars, whose last position it looks for.
func (p *Pastes) Star(ctx context.Context, owner user.ID, id paste.ID) error {
	return retried(ctx, func() error {
		_, err := p.store.sql.ExecContext(ctx, p.store.queries.star, string(owner), string(id))
		return err
	})
}

type starRow struct {
	UserID   string `gorm:"primaryKey"`
	PasteID  string `gorm:"primaryKey"`
	Position int
}

func (starRow) TableName() string { return "stars" }

// Unstar implements paste.Unstarrer.
func (p *Pastes) Unstar(ctx context.Context, starrer user.ID, id paste.ID) error {
	if !isText(string(id)) {
		return errNotFound
	}
	result := p.store.gorm.WithContext(ctx).Where("user_id = ? AND paste_id = ?", string(starrer), string(id)).Delete(&starRow{})
	return translate(orNotFound(result))
}
