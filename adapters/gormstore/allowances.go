package gormstore

import (
	"context"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

var (
	_ paste.AllowedCreator = (*Pastes)(nil)
	_ paste.AllowedUpdater = (*Pastes)(nil)
)

// CreateAllowed implements paste.AllowedCreator.
func (p *Pastes) CreateAllowed(ctx context.Context, allowance paste.Allowance, created paste.Document) (used paste.Usage, err error) {
	rows, err := p.store.newPasteRows(created)
	if err != nil {
		return paste.Usage{}, err
	}
	err = p.store.writePaste(ctx, func(tx *gorm.DB) error {
		if err := p.allow(tx, allowance, created.Owner, paste.Holding{Pastes: 1, Bytes: created.Bytes()}); err != nil {
			return err
		}
		if allowance.Rate.Pastes > 0 {
			if used, err = p.takeQuota(tx, paste.Client("user "+created.Owner), allowance.Rate); err != nil {
				return err
			}
		}
		return rows.insert(tx)
	})
	if err != nil {
		return paste.Usage{}, err
	}
	return used, nil
}

// allow looks whether a user may store more. The user's row is locked until the transaction ends, so that all who add to what one user
// has take turns. The sum is read with a statement of its own, which sees what those before have stored.
func (p *Pastes) allow(tx *gorm.DB, allowance paste.Allowance, owner user.ID, more paste.Holding) error {
	if err := lockUser(tx, owner); err != nil {
		return err
	}
	if allowance.Pastes == 0 && allowance.Bytes == 0 {
		return nil
	}
	var has paste.Holding
	err := p.store.unexpired(tx.Model(&pasteRow{}).Where("owner_id = ?", string(owner))).
		Select("count(*) AS pastes, cast(coalesce(sum(content_bytes + history_bytes), 0) AS bigint) AS bytes").Scan(&has).Error
	if err != nil {
		return err
	}
	return allowance.Add(has, more)
}

func lockUser(tx *gorm.DB, id user.ID) error {
	var row userRow
	return forUpdate(tx).Select("id").Where("id = ?", string(id)).Take(&row).Error
}

// UpdateAllowed implements paste.AllowedUpdater.
func (p *Pastes) UpdateAllowed(
	ctx context.Context, allowance paste.Allowance, editor user.ID, id paste.ID, change func(paste.Document) (paste.Change, error),
) (paste.Document, error) {
	return p.update(ctx, id, change, func(tx *gorm.DB) error { return lockUser(tx, editor) }, func(tx *gorm.DB, grown int64) error {
		return p.allow(tx, allowance, editor, paste.Holding{Bytes: grown})
	})
}
