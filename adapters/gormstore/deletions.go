package gormstore

import (
	"context"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/gluepot/gluepot/adapters/gormstore/connection"
	"github.com/gluepot/gluepot/adapters/gormstore/model"
	"github.com/gluepot/gluepot/domain/user"
)

// bury leaves a tombstone without a reason, unless there is one.
func bury(s *connection.Store, tx *gorm.DB, kind, id string) error {
	row := model.Tombstone{Kind: kind, ID: id, DeletedAt: model.Instant(s.Clock())}
	return tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&row).Error
}

// buried returns which of the ids have a tombstone.
func buried(tx *gorm.DB, kind string, ids []string) (map[string]bool, error) {
	return idsOf(tx.Model(&model.Tombstone{}).Where("kind = ? AND id IN ?", kind, ids))
}

// idsOf returns the ids of the rows of a query.
func idsOf(query *gorm.DB) (map[string]bool, error) {
	var found []string
	err := query.Pluck("id", &found).Error
	ids := make(map[string]bool, len(found))
	for _, id := range found {
		ids[id] = true
	}
	return ids, err
}

// Delete implements user.Deleter. Foreign keys delete the user's rows, so it takes longer the more there are.
func (u *Users) Delete(ctx context.Context, id user.ID, name user.Name, kept *user.Kept) error {
	return u.store.WritePaste(ctx, func(tx *gorm.DB) error {
		var row model.User
		if err := connection.ForUpdate(tx).Where("id = ? AND username_folded = ?", string(id), name.Folded()).Take(&row).Error; err != nil {
			return err
		}
		// Imports lock pastes in the same order, which prevents deadlocks.
		var pastes []string
		owned := connection.ForUpdate(tx.Model(&model.Paste{})).Where("owner_id = ?", row.ID).Order("id")
		if err := owned.Pluck("id", &pastes).Error; err != nil {
			return err
		}
		if err := bury(u.store, tx, model.UserTombstone, row.ID); err != nil {
			return err
		}
		if err := u.giveUpName(tx, name, row.ID); err != nil {
			return err
		}
		if kept != nil {
			if _, err := NewModeration(u.store).unhide(tx, row.ID, noLimit); err != nil {
				return err
			}
			if err := giveUpPastes(tx, row.ID, *kept); err != nil {
				return err
			}
		}
		err := tx.Exec(`INSERT INTO tombstones (kind, id, deleted_at) SELECT 'paste', id, cast(? AS timestamptz) FROM pastes WHERE owner_id = ?
			ON CONFLICT DO NOTHING`, model.Instant(u.store.Clock()), row.ID).Error
		if err != nil {
			return err
		}
		return connection.OrNotFound(tx.Delete(&row))
	})
}

// noLimit turns GORM's LIMIT off.
const noLimit = -1

// giveUpPastes makes a user's pastes anonymous, except private ones. They lose their tags, visibility and search text.
func giveUpPastes(tx *gorm.DB, owner string, kept user.Kept) error {
	const stay = "owner_id = ? AND visibility <> 2"
	for _, of := range []any{&model.PasteTag{}, &model.PasteText{}} {
		if err := tx.Where("paste_id IN (SELECT id FROM pastes WHERE "+stay+")", owner).Delete(of).Error; err != nil {
			return err
		}
	}
	if !kept.Until.IsZero() {
		until := model.Instant(kept.Until)
		err := tx.Model(&model.Paste{}).Where(stay+" AND (expires_at IS NULL OR expires_at > ?)", owner, until).
			Updates(map[string]any{"expires_at": until, "lifetime": kept.Lifetime}).Error
		if err != nil {
			return err
		}
	}
	return tx.Model(&model.Paste{}).Where(stay, owner).Updates(map[string]any{"owner_id": nil, "visibility": 0, "tags": 0}).Error
}

// RemoveExpired implements paste.ExpiredRemover.
func (p *Pastes) RemoveExpired(ctx context.Context, grace time.Duration, limit int) (removed int, err error) {
	err = p.store.WritePaste(ctx, func(tx *gorm.DB) error {
		before := p.store.Ago(grace)
		for _, statement := range p.store.Dialect.RemoveExpired {
			result := tx.Exec(statement, before, limit)
			if result.Error != nil {
				return result.Error
			}
			removed = int(result.RowsAffected)
		}
		return nil
	})
	if err != nil { // the batch is undone
		return 0, err
	}
	return removed, nil
}
