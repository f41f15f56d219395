package gormstore

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/gluepot/gluepot/adapters/gormstore/connection"
	"github.com/gluepot/gluepot/adapters/gormstore/model"
	"github.com/gluepot/gluepot/domain/audit"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// removedDocument has the rows of a paste, to restore them unchanged.
type removedDocument struct {
	model.Document

	Reports []model.Report `json:",omitempty"` // of a hidden paste; removing a paste closes its reports
}

// takeAway moves an active paste to removed_pastes.
func (m *Moderation) takeAway(tx *gorm.DB, id paste.ID, hidden bool) (*model.Document, error) {
	rows, err := NewPastes(m.store).locked(tx, id)
	if err != nil {
		return nil, err
	}
	var reports []model.Report
	if hidden {
		if err := connection.ForUpdate(tx).Where("paste_id = ?", string(id)).Order("id").Find(&reports).Error; err != nil {
			return nil, err
		}
	}
	document, err := json.Marshal(removedDocument{*rows, reports})
	if err != nil {
		return nil, fault.Unforeseen(err)
	}
	row := rows.Paste
	title := row.Title
	if strings.TrimSpace(string(title)) == "" && len(rows.Pasties) > 0 {
		title = rows.Pasties[0].Title
	}
	err = tx.Create(&model.RemovedPaste{
		ID: row.ID, OwnerID: row.OwnerID, CreatedAt: row.CreatedAt, ExpiresAt: row.ExpiresAt, Visibility: row.Visibility, Title: title,
		ContentBytes: row.ContentBytes, HistoryBytes: row.HistoryBytes, RemovedAt: model.Instant(m.store.Clock()), Hidden: hidden,
		Document: document,
	}).Error
	if err != nil {
		return nil, err
	}
	return rows, connection.OrNotFound(tx.Where("id = ?", row.ID).Delete(&model.Paste{}))
}

// giveBack undoes takeAway.
func (m *Moderation) giveBack(tx *gorm.DB, id paste.ID, hidden bool) error {
	var row model.RemovedPaste
	err := unexpired(m.store, connection.ForUpdate(tx).Where("id = ? AND hidden = ?", string(id), hidden)).Take(&row).Error
	if err != nil {
		return err
	}
	var kept removedDocument
	if err := json.Unmarshal(row.Document, &kept); err != nil {
		return fault.Unforeseen(err)
	}
	if searched := kept.Domain(); m.store.KeepsSearch() {
		kept.Text = model.NewText(&searched)
	}
	if err := kept.Insert(tx); err != nil {
		return err
	}
	if !hidden {
		kept.Reports = nil
	}
	if err := model.Insert(tx, kept.Reports); err != nil {
		return err
	}
	if err := tx.Delete(&model.Tombstone{Kind: model.PasteTombstone, ID: row.ID}).Error; err != nil {
		return err
	}
	return tx.Delete(&row).Error
}

// hide moves an active paste of a suspended owner to removed_pastes.
func (m *Moderation) hide(tx *gorm.DB, id paste.ID) error {
	if _, err := m.takeAway(tx, id, true); err != nil {
		return err
	}
	return bury(m.store, tx, model.PasteTombstone, string(id))
}

// hidesPastes reports whether the pastes of a user are to be hidden. owner is an id, or a query for one. It locks the user, so that
// the answer stays true.
func (m *Moderation) hidesPastes(tx *gorm.DB, owner any) (bool, error) {
	var hidden []bool
	err := connection.ForShare(tx).Model(&model.User{}).Where("id = (?)", owner).
		Pluck("pastes_hidden", &hidden).Error
	return len(hidden) > 0 && hidden[0], err
}

// Remove implements moderation.Remover.
func (m *Moderation) Remove(ctx context.Context, id paste.ID, reason string) error {
	return m.store.WritePaste(ctx, func(tx *gorm.DB) error {
		// Edits lock the user before the paste, too: another order would deadlock.
		if _, err := m.hidesPastes(tx, tx.Model(&model.Paste{}).Select("owner_id").Where("id = ?", string(id))); err != nil {
			return err
		}
		told := false
		rows, err := m.takeAway(tx, id, false)
		switch {
		case err == nil:
			told = rows.Domain().ReadableBy("") == nil
		case errors.Is(err, gorm.ErrRecordNotFound): // perhaps hidden
			err = connection.OrNotFound(unexpired(m.store, tx.Model(&model.RemovedPaste{}).Where("id = ? AND hidden", string(id))).
				Updates(map[string]any{"hidden": false, "removed_at": model.Instant(m.store.Clock())}))
		}
		if err != nil {
			return err
		}
		act, _ := audit.Noted(ctx)
		return tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&model.Tombstone{
			Kind: model.PasteTombstone, ID: string(id), DeletedAt: model.Instant(m.store.Clock()),
			RemovedBy: act.Actor, Reason: reason, Told: told,
		}).Error
	})
}

// Restore implements moderation.Remover.
func (m *Moderation) Restore(ctx context.Context, id paste.ID) error {
	return m.store.WritePaste(ctx, func(tx *gorm.DB) error {
		hidden, err := m.hidesPastes(tx, tx.Model(&model.RemovedPaste{}).Select("owner_id").Where("id = ?", string(id)))
		if err != nil {
			return err
		}
		if err := m.giveBack(tx, id, false); err != nil || !hidden {
			return err
		}
		return m.hide(tx, id)
	})
}

// Told implements moderation.Teller.
func (p *Pastes) Told(ctx context.Context, id paste.ID) (told bool, err error) {
	if !model.IsText(string(id)) {
		return false, nil
	}
	var found []bool
	err = p.store.Read(ctx).Model(&model.Tombstone{}).Where("kind = ? AND id = ?", model.PasteTombstone, string(id)).
		Pluck("told", &found).Error
	return len(found) > 0 && found[0], connection.Translate(err)
}

// PurgeRemoved implements moderation.Purger.
func (p *Pastes) PurgeRemoved(ctx context.Context, retention time.Duration, limit int) (int, error) {
	return p.purge(ctx, `DELETE FROM removed_pastes WHERE id IN (
		SELECT id FROM removed_pastes WHERE NOT hidden AND removed_at <= ? OR expires_at <= ? LIMIT ?)`,
		p.store.Ago(retention), p.store.Now(), limit)
}

// DeleteRemoved implements moderation.Purger.
func (p *Pastes) DeleteRemoved(ctx context.Context, id paste.ID) error {
	return p.store.WritePaste(ctx, func(tx *gorm.DB) error {
		return connection.OrNotFound(tx.Where("id = ?", string(id)).Delete(&model.RemovedPaste{}))
	})
}

// purge runs a DELETE and returns the number of rows.
func (p *Pastes) purge(ctx context.Context, statement string, values ...any) (purged int, err error) {
	err = p.store.Transaction(ctx, func(tx *gorm.DB) error {
		result := tx.Exec(statement, values...)
		purged = int(result.RowsAffected)
		return result.Error
	})
	return purged, err
}

// Hide implements moderation.Hider.
func (m *Moderation) Hide(ctx context.Context, owner user.ID, limit int) (hidden int, err error) {
	err = m.store.WritePaste(ctx, func(tx *gorm.DB) error {
		hidden = 0
		if wanted, err := m.hidesPastes(tx, string(owner)); err != nil || !wanted {
			return err
		}
		ids, err := lockedIDs(tx, unexpired(m.store, newest(tx, paste.Place{}, limit).Where("owner_id = ?", string(owner))))
		if err != nil {
			return err
		}
		hidden, err = each(ids, func(id paste.ID) error { return m.hide(tx, id) })
		return err
	})
	return hidden, err
}

// Unhide implements moderation.Hider.
func (m *Moderation) Unhide(ctx context.Context, owner user.ID, limit int) (shown int, err error) {
	err = m.store.WritePaste(ctx, func(tx *gorm.DB) error {
		shown = 0
		hidden, err := m.hidesPastes(tx, string(owner))
		if err == nil && !hidden {
			shown, err = m.unhide(tx, string(owner), limit)
		}
		return err
	})
	return shown, err
}

func (m *Moderation) unhide(tx *gorm.DB, owner string, limit int) (shown int, err error) {
	var ids []paste.ID
	err = unexpired(m.store, tx.Model(&model.RemovedPaste{}).Where("owner_id = ? AND hidden", owner)).
		Order("id").Limit(limit).Pluck("id", &ids).Error
	if err != nil {
		return 0, err
	}
	return each(ids, func(id paste.ID) error { return m.giveBack(tx, id, true) })
}

// each calls do for the ids, and returns how many were there: others have just expired, or another caller was quicker.
func each(ids []paste.ID, do func(paste.ID) error) (done int, err error) {
	for _, id := range ids {
		switch err := do(id); {
		case err == nil:
			done++
		case !errors.Is(err, gorm.ErrRecordNotFound):
			return 0, err
		}
	}
	return done, nil
}
