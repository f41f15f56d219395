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

// addTombstones adds tombstones without a reason for ids that have none.
func addTombstones[ID ~string](s *db.Store, tx *gorm.DB, kind string, ids ...ID) error {
	var rows []model.Tombstone
	for _, id := range ids {
		rows = append(rows, model.Tombstone{Kind: kind, ID: string(id), DeletedAt: model.Instant(s.Clock())})
	}
	return model.Insert(tx.Clauses(clause.OnConflict{DoNothing: true}), rows)
}

// withTombstones returns which of the ids have a tombstone.
func withTombstones(tx *gorm.DB, kind string, ids []string) (map[string]bool, error) {
	return idsOf(tx.Model(&model.Tombstone{}).Where("kind = ? AND id IN ?", kind, ids))
}

// idsOf returns the ids of the rows of a query.
func idsOf(query *gorm.DB) (map[string]bool, error) {
	var ids []string
	err := query.Pluck("id", &ids).Error
	set := make(map[string]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set, err
}

// deletionBatch is how many pastes of a deleted user one transaction handles. SQLite's search index needs a millisecond
// or two for each.
const deletionBatch = 100

// Delete implements user.Store. The first batch compares the name, and records the act and the deletion. If a later
// batch is interrupted, the sweep continues the deletion. Others can write between the batches.
func (u *Users) Delete(
	ctx context.Context, from netip.Addr, entry auditlog.Entry, id user.ID, name user.Name, retention *user.PasteRetention,
) error {
	var pastes int
	err := u.store.Record(ctx, entry, u.store.WritePaste, u.store.RefuseBlocked(from, func(tx *gorm.DB) error {
		var row model.User
		err := db.ForUpdate(tx).Where("id = ? AND username_folded = ?", string(id), name.Folded()).Take(&row).Error
		if err != nil {
			return err
		}
		deletion := model.NewUserDeletion(id, retention)
		if err := tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(deletion).Error; err != nil {
			return err
		}
		pastes, err = u.deleteBatch(tx, &row, deletion, deletionBatch)
		return err
	}))
	for err == nil && pastes == deletionBatch {
		pastes, err = u.continueDeletion(ctx, id, deletionBatch)
	}
	return err
}

// continueDeletion calls deleteBatch in a transaction, unless another caller has finished the deletion.
func (u *Users) continueDeletion(ctx context.Context, id user.ID, limit int) (pastes int, err error) {
	err = u.store.WritePaste(ctx, func(tx *gorm.DB) error {
		var row model.User
		var deletion model.UserDeletion
		pastes = 0
		err := db.ForUpdate(tx).Where("id = ?", string(id)).Take(&row).Error
		if err == nil {
			err = tx.Where("user_id = ?", row.ID).Take(&deletion).Error
		}
		switch {
		case errors.Is(err, gorm.ErrRecordNotFound):
			return nil
		case err == nil:
			pastes, err = u.deleteBatch(tx, &row, &deletion, limit)
		}
		return err
	})
	return pastes, err
}

// deleteBatch handles at most limit pastes of a locked user, and returns how many it selected. If these are fewer, it
// also deletes the user.
func (u *Users) deleteBatch(
	tx *gorm.DB, row *model.User, deletion *model.UserDeletion, limit int,
) (pastes int, err error) {
	if pastes, err = u.takePastes(tx, row.ID, deletion.Retention(), limit); err != nil || pastes == limit {
		return pastes, err
	}
	owner, err := row.Domain()
	if err != nil {
		return 0, err
	}
	if err := addTombstones(u.store, tx, model.UserTombstone, row.ID); err != nil {
		return 0, err
	}
	if err := giveUpName(u.store, tx, owner.Name.Folded(), row.ID); err != nil {
		return 0, err
	}
	if owner.Admin {
		if err := endSetup(tx); err != nil {
			return 0, err
		}
	}
	return pastes, db.OrNotFound(tx.Delete(row))
}

// FinishDeletions implements paste.Store.
func (p *Pastes) FinishDeletions(ctx context.Context, limit int) (int, error) {
	var ids []user.ID
	err := p.store.Read(ctx).Model(&model.UserDeletion{}).Order("user_id").Limit(1).Pluck("user_id", &ids).Error
	if err != nil || len(ids) == 0 {
		return 0, db.Translate(err)
	}
	return NewUsers(p.store).continueDeletion(ctx, ids[0], limit)
}

// takePastes deletes pastes of a locked user. With a retention, those that are neither private nor removed become
// anonymous instead, including hidden ones. It returns how many pastes it selected: some may have gone before they were
// locked, and still there may be others.
func (u *Users) takePastes(tx *gorm.DB, owner string, retention *user.PasteRetention, limit int) (int, error) {
	var selected []paste.ID
	err := newest(tx, paste.Cursor{}, limit).Where("owner_id = ?", owner).Pluck("id", &selected).Error
	if err != nil {
		return 0, err
	}
	ids, err := lockIDs(tx, selected)
	if err != nil {
		return 0, err
	}
	if retention != nil {
		var hidden []paste.ID
		if err := tx.Model(&model.Paste{}).Where("id IN ? AND hidden", ids).Pluck("id", &hidden).Error; err != nil {
			return 0, err
		}
		if err := showRows(tx, hidden); err != nil {
			return 0, err
		}
		if err := giveUpPastes(tx, ids, *retention); err != nil {
			return 0, err
		}
	}
	// With a condition on the owner, each batch would read the owner's index to its end.
	err = tx.Exec(`INSERT INTO tombstones (kind, id, deleted_at)
		SELECT 'paste', id, cast(? AS timestamptz) FROM pastes WHERE id IN ? AND owner_id IS NOT NULL ON CONFLICT DO NOTHING`,
		model.Instant(u.store.Clock()), ids).Error
	if err == nil {
		err = tx.Where("id IN ? AND owner_id IS NOT NULL", ids).Delete(&model.Paste{}).Error
	}
	return len(selected), err
}

// lockIDs locks pastes until the transaction ends, and returns the ids of those that are still there. Imports lock
// pastes in the same order, which prevents deadlocks.
func lockIDs(tx *gorm.DB, ids []paste.ID) (locked []paste.ID, err error) {
	err = db.ForUpdate(tx.Model(&model.Paste{})).Where("id IN ?", ids).Order("id").Pluck("id", &locked).Error
	return locked, err
}

// giveUpPastes makes pastes of a user anonymous, except private and removed ones. They lose their tags, visibility and
// search text.
func giveUpPastes(tx *gorm.DB, ids []paste.ID, retention user.PasteRetention) error {
	const condition = "id IN ? AND visibility <> 2 AND removed_at IS NULL"
	// See model.Text: U+001A is the first of two characters that stand for one.
	err := tx.Exec(`UPDATE pastes SET content_bytes = content_bytes - (
			SELECT coalesce(sum(octet_length(replace(tag, ?, ''))), 0) FROM paste_tags WHERE paste_id = pastes.id)
		WHERE tags > 0 AND `+condition, "\x1a", ids).Error
	if err != nil {
		return err
	}
	for _, row := range []any{&model.PasteTag{}, &model.PasteText{}} {
		if err := tx.Where("paste_id IN (SELECT id FROM pastes WHERE "+condition+")", ids).Delete(row).Error; err != nil {
			return err
		}
	}
	if !retention.Until.IsZero() {
		until := model.Instant(retention.Until)
		err := tx.Model(&model.Paste{}).Where(condition+" AND (expires_at IS NULL OR expires_at > ?)", ids, until).
			Updates(map[string]any{"expires_at": until, "lifetime": retention.Lifetime}).Error
		if err != nil {
			return err
		}
	}
	return tx.Model(&model.Paste{}).Where(condition, ids).
		Updates(map[string]any{"owner_id": nil, "visibility": 0, "tags": 0}).Error
}

// RemoveExpired implements paste.Store.
func (p *Pastes) RemoveExpired(ctx context.Context, grace time.Duration, limit int) (removed int, err error) {
	err = p.store.WritePaste(ctx, func(tx *gorm.DB) error {
		before := p.store.Ago(grace)
		for _, statement := range p.store.Dialect().RemoveExpired {
			result := tx.Exec(statement, before, limit)
			if result.Error != nil {
				return result.Error
			}
			removed = int(result.RowsAffected)
		}
		return nil
	})
	if err != nil { // the batch was rolled back
		return 0, err
	}
	return removed, nil
}
