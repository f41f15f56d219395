package gormstore

import (
	"context"
	"errors"
	"slices"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/gluepot/gluepot/adapters/gormstore/db"
	"github.com/gluepot/gluepot/adapters/gormstore/model"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// hideRows marks locked pastes as removed, or as hidden with their owner.
func hideRows(s *db.Store, tx *gorm.DB, ids []paste.ID, hidden bool) error {
	if err := tx.Where("paste_id IN ?", ids).Delete(&model.PasteText{}).Error; err != nil {
		return err
	}
	return tx.Model(&model.Paste{}).Where("id IN ?", ids).
		Updates(map[string]any{"removed_at": s.Now(), "hidden": hidden}).Error
}

// showRows undoes hideRows, except for the text of searches, and deletes the tombstones.
func showRows(tx *gorm.DB, ids []paste.ID) error {
	err := tx.Where("kind = ? AND id IN ?", model.PasteTombstone, ids).Delete(&model.Tombstone{}).Error
	if err != nil {
		return err
	}
	return tx.Model(&model.Paste{}).Where("id IN ?", ids).Updates(map[string]any{"removed_at": nil, "hidden": false}).Error
}

// show restores locked pastes, and makes them searchable.
func (m *Moderation) show(tx *gorm.DB, ids []paste.ID) error {
	if err := showRows(tx, ids); err != nil {
		return err
	}
	var rows []*model.Paste
	if err := tx.Omit("Stars", "Starred").Where("id IN ?", ids).Find(&rows).Error; err != nil {
		return err
	}
	for batch := range slices.Chunk(rows, 1) { // they may be large
		if err := keepTexts(m.store, tx, batch); err != nil {
			return err
		}
	}
	return nil
}

// hidesPastes reports whether the pastes of a user are to be hidden. owner is an id, or a query for one. The user is
// locked, so that the answer stays true.
func (m *Moderation) hidesPastes(tx *gorm.DB, owner any) (bool, error) {
	var hidden []bool
	err := db.ForShare(tx).Model(&model.User{}).Where("id = (?)", owner).Pluck("pastes_hidden", &hidden).Error
	return len(hidden) > 0 && hidden[0], err
}

func ownerOf(tx *gorm.DB, id paste.ID) *gorm.DB {
	return tx.Model(&model.Paste{}).Select("owner_id").Where("id = ?", string(id))
}

// lockRemoved locks an unexpired paste that was removed, or one that is hidden.
func (m *Moderation) lockRemoved(tx *gorm.DB, id paste.ID, hidden bool) error {
	removed := tx.Where("id = ? AND removed_at IS NOT NULL AND hidden = ?", string(id), hidden)
	return unexpired(m.store, db.ForUpdate(removed)).Select("id").Take(&model.Paste{}).Error
}

// Remove implements moderation.Store.
func (m *Moderation) Remove(ctx context.Context, entry auditlog.Entry, id paste.ID, reason string) error {
	return m.store.Record(ctx, entry, m.store.WritePaste, func(tx *gorm.DB) error {
		// Edits lock the user before the paste, too: another order would deadlock.
		if _, err := m.hidesPastes(tx, ownerOf(tx, id)); err != nil {
			return err
		}
		notice := false
		rows, err := NewPastes(m.store).lock(tx, id)
		switch {
		case err == nil:
			notice = rows.Domain().ReadableBy("") == nil
		case errors.Is(err, gorm.ErrRecordNotFound):
			err = m.lockRemoved(tx, id, true)
		}
		if err != nil {
			return err
		}
		if err := hideRows(m.store, tx, []paste.ID{id}, false); err != nil {
			return err
		}
		if err := tx.Where("paste_id = ?", string(id)).Delete(&model.Report{}).Error; err != nil {
			return err
		}
		return tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&model.Tombstone{
			Kind: model.PasteTombstone, ID: string(id), DeletedAt: model.Instant(m.store.Clock()),
			RemovedBy: entry.Actor, Reason: reason, Told: notice,
		}).Error
	})
}

// Restore implements moderation.Store.
func (m *Moderation) Restore(ctx context.Context, entry auditlog.Entry, id paste.ID) error {
	return m.store.Record(ctx, entry, m.store.WritePaste, func(tx *gorm.DB) error {
		hidden, err := m.hidesPastes(tx, ownerOf(tx, id))
		if err != nil {
			return err
		}
		if err := m.lockRemoved(tx, id, false); err != nil {
			return err
		}
		if err := m.show(tx, []paste.ID{id}); err != nil || !hidden {
			return err
		}
		return m.hide(tx, []paste.ID{id})
	})
}

// RemovalNotice implements paste.Store.
func (p *Pastes) RemovalNotice(ctx context.Context, id paste.ID) (notice bool, err error) {
	if !model.IsText(string(id)) {
		return false, nil
	}
	var values []bool
	err = p.store.Read(ctx).Model(&model.Tombstone{}).Where("kind = ? AND id = ?", model.PasteTombstone, string(id)).
		Pluck("told", &values).Error
	return len(values) > 0 && values[0], db.Translate(err)
}

// PurgeRemoved implements paste.Store. The outer condition leaves out a paste that is restored at the same moment, also
// one that is hidden then.
func (p *Pastes) PurgeRemoved(ctx context.Context, retention time.Duration, limit int) (int, error) {
	const purged = "removed_at <= ? AND NOT hidden"
	before := p.store.Ago(retention)
	return p.purge(ctx, "DELETE FROM pastes WHERE "+purged+" AND id IN (SELECT id FROM pastes WHERE "+purged+" LIMIT ?)",
		before, before, limit)
}

// DeleteRemoved implements paste.Store.
func (p *Pastes) DeleteRemoved(ctx context.Context, entry auditlog.Entry, id paste.ID) error {
	return p.store.Record(ctx, entry, p.store.WritePaste, func(tx *gorm.DB) error {
		return db.OrNotFound(tx.Where("id = ? AND removed_at IS NOT NULL", string(id)).Delete(&model.Paste{}))
	})
}

// purge runs a DELETE and returns the number of rows.
func (p *Pastes) purge(ctx context.Context, statement string, values ...any) (rows int, err error) {
	err = p.store.Transaction(ctx, func(tx *gorm.DB) error {
		result := tx.Exec(statement, values...)
		rows = int(result.RowsAffected)
		return result.Error
	})
	return rows, err
}

// Hide implements moderation.Store.
func (m *Moderation) Hide(ctx context.Context, owner user.ID, limit int) (int, error) {
	return m.changeHidden(ctx, owner, true, "removed_at IS NULL", m.hide, func(tx *gorm.DB) *gorm.DB {
		return active(m.store, newest(tx, paste.Cursor{}, limit).Where("owner_id = ?", string(owner)))
	})
}

// hide hides locked pastes of a suspended owner.
func (m *Moderation) hide(tx *gorm.DB, ids []paste.ID) error {
	if err := hideRows(m.store, tx, ids, true); err != nil {
		return err
	}
	return addTombstones(m.store, tx, model.PasteTombstone, ids...)
}

// Unhide implements moderation.Store.
func (m *Moderation) Unhide(ctx context.Context, owner user.ID, limit int) (int, error) {
	return m.changeHidden(ctx, owner, false, "hidden", m.show, func(tx *gorm.DB) *gorm.DB {
		return tx.Model(&model.Paste{}).Where("owner_id = ? AND hidden", string(owner)).Limit(limit)
	})
}

// changeHidden selects pastes of an owner, locks those that still meet the condition, and calls change with them. It
// does nothing unless the owner's pastes are to be hidden, or not, as hidden says. It returns how many pastes it
// selected: if all of them have gone, there may still be others.
func (m *Moderation) changeHidden(
	ctx context.Context, owner user.ID, hidden bool, condition string, change func(*gorm.DB, []paste.ID) error,
	query func(*gorm.DB) *gorm.DB,
) (selected int, err error) {
	err = m.store.WritePaste(ctx, func(tx *gorm.DB) error {
		selected = 0
		if hides, err := m.hidesPastes(tx, string(owner)); err != nil || hides != hidden {
			return err
		}
		var ids, locked []paste.ID
		if err := query(tx).Pluck("id", &ids).Error; err != nil {
			return err
		}
		selected = len(ids)
		err := db.ForUpdate(tx.Model(&model.Paste{})).Where("id IN ?", ids).Where(condition).
			Order("id").Pluck("id", &locked).Error
		if err != nil || len(locked) == 0 {
			return err
		}
		return change(tx, locked)
	})
	return selected, err
}
