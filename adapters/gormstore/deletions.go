package gormstore

import (
	"context"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/gluepot/gluepot/adapters/gormstore/connection"
	"github.com/gluepot/gluepot/adapters/gormstore/model"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// bury leaves tombstones without a reason where there are none.
func bury[ID ~string](s *connection.Store, tx *gorm.DB, kind string, ids ...ID) error {
	var rows []model.Tombstone
	for _, id := range ids {
		rows = append(rows, model.Tombstone{Kind: kind, ID: string(id), DeletedAt: model.Instant(s.Clock())})
	}
	return model.Insert(tx.Clauses(clause.OnConflict{DoNothing: true}), rows)
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

// takenAtOnce is how many pastes of a deleted user one transaction takes. SQLite's search index needs a millisecond or two for each.
const takenAtOnce = 100

// Delete implements user.Deleter. Others write between its batches. The first one compares the name, and records the act: what follows
// is not undone.
func (u *Users) Delete(ctx context.Context, id user.ID, name user.Name, kept *user.Kept) error {
	find := func(tx *gorm.DB) *gorm.DB {
		return connection.ForUpdate(tx).Where("id = ? AND username_folded = ?", string(id), name.Folded())
	}
	for taken := 1; taken > 0; {
		err := u.store.WritePaste(ctx, func(tx *gorm.DB) (err error) {
			_, taken, err = u.takePastes(tx, find(tx), kept, takenAtOnce)
			return err
		})
		if err != nil {
			return err
		}
		ctx = audit.Unnoted(ctx)
		find = func(tx *gorm.DB) *gorm.DB { return connection.ForUpdate(tx).Where("id = ?", string(id)) }
	}
	return u.store.WritePaste(ctx, func(tx *gorm.DB) error {
		row, _, err := u.takePastes(tx, find(tx), kept, noLimit) // those of the meantime
		if err != nil {
			return err
		}
		deleted, err := row.Domain()
		if err != nil {
			return err
		}
		if err := bury(u.store, tx, model.UserTombstone, row.ID); err != nil {
			return err
		}
		if err := giveUpName(u.store, tx, deleted.Name.Folded(), row.ID); err != nil {
			return err
		}
		return connection.OrNotFound(tx.Delete(&row))
	})
}

// noLimit turns GORM's LIMIT off.
const noLimit = -1

// takePastes locks the user that a query finds, deletes pastes of it, and returns how many it saw. With kept, those that are neither
// private nor removed become anonymous, hidden ones included.
func (u *Users) takePastes(tx, owner *gorm.DB, kept *user.Kept, limit int) (row model.User, seen int, err error) {
	if err := owner.Take(&row).Error; err != nil {
		return row, 0, err
	}
	ids, err := lockedIDs(tx, newest(tx, paste.Place{}, limit).Where("owner_id = ?", row.ID))
	if err != nil {
		return row, 0, err
	}
	if kept != nil {
		var hidden []paste.ID
		if err := tx.Model(&model.Paste{}).Where("id IN ? AND hidden", ids).Pluck("id", &hidden).Error; err != nil {
			return row, 0, err
		}
		if err := giveBack(tx, hidden); err != nil {
			return row, 0, err
		}
		if err := giveUpPastes(tx, ids, *kept); err != nil {
			return row, 0, err
		}
	}
	// No condition names the owner: its index would be read to the end for each batch.
	err = tx.Exec(`INSERT INTO tombstones (kind, id, deleted_at)
		SELECT 'paste', id, cast(? AS timestamptz) FROM pastes WHERE id IN ? AND owner_id IS NOT NULL ON CONFLICT DO NOTHING`,
		model.Instant(u.store.Clock()), ids).Error
	if err == nil {
		err = tx.Where("id IN ? AND owner_id IS NOT NULL", ids).Delete(&model.Paste{}).Error
	}
	return row, len(ids), err
}

// lockedIDs locks the pastes of a query until the transaction ends, and returns their ids. Imports lock pastes in the same order, which
// prevents deadlocks.
func lockedIDs(tx, some *gorm.DB) (ids []paste.ID, err error) {
	err = connection.ForUpdate(tx.Model(&model.Paste{})).Where("id IN (?)", some.Select("id")).Order("id").Pluck("id", &ids).Error
	return ids, err
}

// giveUpPastes makes pastes of a user anonymous, except private and removed ones. They lose their tags, visibility and search text.
func giveUpPastes(tx *gorm.DB, ids []paste.ID, kept user.Kept) error {
	const stay = "id IN ? AND visibility <> 2 AND removed_at IS NULL"
	// See model.Text: U+001A is the first of two characters that stand for one.
	err := tx.Exec(`UPDATE pastes SET content_bytes = content_bytes - (
			SELECT coalesce(sum(octet_length(replace(tag, ?, ''))), 0) FROM paste_tags WHERE paste_id = pastes.id)
		WHERE tags > 0 AND `+stay, "\x1a", ids).Error
	if err != nil {
		return err
	}
	for _, of := range []any{&model.PasteTag{}, &model.PasteText{}} {
		if err := tx.Where("paste_id IN (SELECT id FROM pastes WHERE "+stay+")", ids).Delete(of).Error; err != nil {
			return err
		}
	}
	if !kept.Until.IsZero() {
		until := model.Instant(kept.Until)
		err := tx.Model(&model.Paste{}).Where(stay+" AND (expires_at IS NULL OR expires_at > ?)", ids, until).
			Updates(map[string]any{"expires_at": until, "lifetime": kept.Lifetime}).Error
		if err != nil {
			return err
		}
	}
	return tx.Model(&model.Paste{}).Where(stay, ids).Updates(map[string]any{"owner_id": nil, "visibility": 0, "tags": 0}).Error
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
