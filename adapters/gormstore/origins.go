package gormstore

import (
	"context"
	"net/netip"
	"time"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/adapters/gormstore/connection"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/paste"
)

var _ moderation.OriginFinder = (*Moderation)(nil)

// originRow is where a paste came from. It is swept by its time, whatever becomes of the paste.
type originRow struct {
	PasteID   string `gorm:"primaryKey"`
	Address   string
	CreatedAt time.Time `gorm:"autoCreateTime:false"`
}

func (originRow) TableName() string { return "paste_origins" }

// keepOrigin adds the address of the context to a paste that is created, if that is to be kept.
func (r *pasteRows) keepOrigin(ctx context.Context) {
	if address := moderation.OriginOf(ctx); address.IsValid() {
		r.origin = &originRow{r.paste.ID, address.String(), r.paste.CreatedAt}
	}
}

// Origin implements moderation.OriginFinder.
func (m *Moderation) Origin(ctx context.Context, id paste.ID) (netip.Addr, error) {
	if !connection.IsText(string(id)) {
		return netip.Addr{}, connection.ErrNotFound
	}
	var row originRow
	if err := m.store.Read(ctx).Where("paste_id = ?", string(id)).Take(&row).Error; err != nil {
		return netip.Addr{}, connection.Translate(err)
	}
	address, err := netip.ParseAddr(row.Address)
	if err != nil {
		return netip.Addr{}, fault.Unforeseen(err)
	}
	return address, nil
}

// ForgetOrigins implements moderation.Purger.
func (p *Pastes) ForgetOrigins(ctx context.Context, retention time.Duration, limit int) (forgotten int, err error) {
	err = p.store.Transaction(ctx, func(tx *gorm.DB) error {
		result := tx.Exec(`DELETE FROM paste_origins WHERE paste_id IN (SELECT paste_id FROM paste_origins WHERE created_at <= ? LIMIT ?)`,
			p.store.Ago(retention), limit)
		forgotten = int(result.RowsAffected)
		return result.Error
	})
	return forgotten, err
}
