package gormstore

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/gluepot/gluepot/adapters/gormstore/db"
	"github.com/gluepot/gluepot/adapters/gormstore/model"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// bury leaves tombstones without a reason where there are none.
func bury[ID ~string](s *db.Store, tx *gorm.DB, kind string, ids ...ID) error {
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

// takenAtOnce is how many pastes of a deleted user one transaction takes. SQLite's search index needs a millisecond or
// two for each.
const takenAtOnce = 100

// Delete implements user.Store. The first batch compares the name, and records the act and what is to be done: what
// follows is not undone, and the sweep goes on with it if it is interrupted. Others write between the batches.
func (u *Users) Delete(ctx context.Context, from netip.Addr, entry auditlog.Entry, id user.ID, name user.Name,
	kept *user.PasteRetention) error {
	var taken int
	err := u.store.WritePaste(ctx, u.store.Guarded(from, u.store.Recorded(entry, func(tx *gorm.DB) error {
		var row model.User
		named := db.ForUpdate(tx).Where("id = ? AND username_folded = ?", string(id), name.Folded())
		if err := named.Take(&row).Error; err != nil {
			return err
		}
		deletion := model.NewUserDeletion(id, kept)
		err := tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(deletion).Error
		if err == nil {
			taken, err = u.deleteBatch(tx, &row, deletion, takenAtOnce)
		}
		return err
	})))
	for err == nil && taken == takenAtOnce {
		taken, err = u.goOn(ctx, id, takenAtOnce)
	}
	return err
}

// goOn is deleteBatch in a transaction, unless another caller was quicker.
func (u *Users) goOn(ctx context.Context, id user.ID, limit int) (taken int, err error) {
	err = u.store.WritePaste(ctx, func(tx *gorm.DB) error {
		var row model.User
		var deletion model.UserDeletion
		taken = 0
		err := db.ForUpdate(tx).Where("id = ?", string(id)).Take(&row).Error
		if err == nil {
			err = tx.Where("user_id = ?", row.ID).Take(&deletion).Error
		}
		switch {
		case errors.Is(err, gorm.ErrRecordNotFound):
			return nil
		case err == nil:
			taken, err = u.deleteBatch(tx, &row, &deletion, limit)
		}
		return err
	})
	return taken, err
}

// deleteBatch takes pastes of a locked user, at most limit, and returns how many. With fewer, the user goes, too.
func (u *Users) deleteBatch(tx *gorm.DB, row *model.User,
	deletion *model.UserDeletion, limit int) (taken int, err error) {
	if taken, err = u.takePastes(tx, row.ID, deletion.Kept(), limit); err != nil || taken == limit {
		return taken, err
	}
	deleted, err := row.Domain()
	if err != nil {
		return 0, err
	}
	if err := bury(u.store, tx, model.UserTombstone, row.ID); err != nil {
		return 0, err
	}
	if err := giveUpName(u.store, tx, deleted.Name.Folded(), row.ID); err != nil {
		return 0, err
	}
	if deleted.Admin {
		if err := endSetup(tx); err != nil {
			return 0, err
		}
	}
	return taken, db.OrNotFound(tx.Delete(row))
}

// FinishDeletions implements paste.Store.
func (p *Pastes) FinishDeletions(ctx context.Context, limit int) (int, error) {
	var begun []user.ID
	err := p.store.Read(ctx).Model(&model.UserDeletion{}).Order("user_id").Limit(1).Pluck("user_id", &begun).Error
	if err != nil || len(begun) == 0 {
		return 0, db.Translate(err)
	}
	return NewUsers(p.store).goOn(ctx, begun[0], limit)
}

// takePastes deletes pastes of a locked user, and returns how many. With kept, those that are neither private nor
// removed become anonymous, hidden ones included.
func (u *Users) takePastes(tx *gorm.DB, owner string, kept *user.PasteRetention, limit int) (int, error) {
	ids, err := lockedIDs(tx, newest(tx, paste.Cursor{}, limit).Where("owner_id = ?", owner))
	if err != nil {
		return 0, err
	}
	if kept != nil {
		var hidden []paste.ID
		if err := tx.Model(&model.Paste{}).Where("id IN ? AND hidden", ids).Pluck("id", &hidden).Error; err != nil {
			return 0, err
		}
		if err := giveBack(tx, hidden); err != nil {
			return 0, err
		}
		if err := giveUpPastes(tx, ids, *kept); err != nil {
			return 0, err
		}
	}
	// No condition names the owner: its index would be read to the end for each batch.
	err = tx.Exec(`INSERT INTO tombstones (kind, id, deleted_at)
		SELECT 'paste', id, cast(? AS timestamptz) FROM pastes WHERE id IN ? AND owner_id IS NOT NULL ON CONFLICT DO NOTHING`,
		model.Instant(u.store.Clock()), ids).Error
	if err == nil {
		err = tx.Where("id IN ? AND owner_id IS NOT NULL", ids).Delete(&model.Paste{}).Error
	}
	return len(ids), err
}

// lockedIDs locks the pastes of a query until the transaction ends, and returns their ids. Imports lock pastes in the
// same order, which prevents deadlocks.
func lockedIDs(tx, some *gorm.DB) (ids []paste.ID, err error) {
	err = db.ForUpdate(tx.Model(&model.Paste{})).Where("id IN (?)", some.Select("id")).Order("id").Pluck("id", &ids).Error
	return ids, err
}

// giveUpPastes makes pastes of a user anonymous, except private and removed ones. They lose their tags, visibility and
// search text.
func giveUpPastes(tx *gorm.DB, ids []paste.ID, kept user.PasteRetention) error {
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
	return tx.Model(&model.Paste{}).Where(stay, ids).Updates(map[string]any{"owner_id": nil,
		"visibility": 0, "tags": 0}).Error
}

// RemoveExpired implements paste.Store.
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
