package gormstore

import (
	"context"
	"errors"
	"net/netip"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/adapters/gormstore/db"
	"github.com/gluepot/gluepot/adapters/gormstore/model"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// Pastes stores pastes and stars.
type Pastes struct{ store *db.Store }

// NewPastes returns the pastes of a store.
func NewPastes(store *db.Store) *Pastes { return &Pastes{store} }

// DocumentByID implements paste.Store.
func (p *Pastes) DocumentByID(ctx context.Context, id paste.ID) (paste.Document, error) {
	return p.find(ctx, id, "", func(*model.Paste) error { return nil })
}

// ReadDocument implements paste.Store.
func (p *Pastes) ReadDocument(ctx context.Context, id paste.ID, reader user.ID) (paste.Document, error) {
	return p.find(ctx, id, reader, func(row *model.Paste) error {
		_, err := row.WithoutContent().ForReader(reader)
		return err
	})
}

// ReadWithoutContent implements paste.Store.
func (p *Pastes) ReadWithoutContent(ctx context.Context, id paste.ID, reader user.ID) (paste.Document, error) {
	if !model.IsText(string(reader)) { // no user has this id
		reader = ""
	}
	var row *model.Paste
	err := p.store.ReadLimited(ctx, func(tx *gorm.DB) (err error) {
		row, err = p.take(tx, id, reader)
		return err
	}, p.store.Pastes)
	if err != nil {
		return paste.Document{}, err
	}
	return row.WithoutContent().ForReader(reader)
}

// pastyRow is a paste with one of its pasties.
type pastyRow struct {
	model.Paste
	PastyID, PastyTitle, PastyLanguage, Code *model.Text // nil: the paste has no such pasty, or is refused
}

// pastyColumns are the columns of pastyRow that ReadPasty needs.
const pastyColumns = `pastes.id, owner_id, burns, visibility, encrypted,
	y.id AS pasty_id, y.title AS pasty_title, y.language AS pasty_language, y.code`

// ReadPasty implements paste.Store. One statement reads both rows, so that they are of one instant.
func (p *Pastes) ReadPasty(ctx context.Context, id paste.ID, pasty string, reader user.ID) (paste.Pasty, error) {
	if !model.IsText(string(reader)) { // no user has this id
		reader = ""
	}
	if !model.IsText(pasty) {
		return paste.Pasty{}, db.ErrNotFound
	}
	// It does not read code that Document.ForReader would refuse.
	join := "LEFT JOIN pasties y ON y.paste_id = pastes.id AND " +
		"(owner_id = ? OR NOT burns AND visibility <> ?) AND NOT encrypted"
	arguments := []any{string(reader), int16(paste.Private)}
	if pasty != "" {
		join, arguments = join+" AND y.id = ?", append(arguments, pasty)
	}
	var row pastyRow
	err := p.store.ReadLimited(ctx, func(tx *gorm.DB) error {
		query := tx.Table("pastes").Select(pastyColumns).Joins(join, arguments...).Where("pastes.id = ?", string(id))
		return active(p.store, query).Order("y.position").Take(&row).Error
	}, p.store.Pastes)
	if err != nil {
		return paste.Pasty{}, err
	}
	if _, err := row.WithoutContent().ForReader(reader); err != nil {
		if errors.Is(err, paste.ErrBurns) {
			return paste.Pasty{}, err
		}
		return paste.Pasty{}, db.ErrNotFound
	}
	if row.PastyID == nil {
		return paste.Pasty{}, db.ErrNotFound
	}
	return paste.Pasty{
		ID: string(*row.PastyID), Title: string(*row.PastyTitle), Language: string(*row.PastyLanguage),
		Code: string(*row.Code),
	}, nil
}

// ReadCipher implements paste.Store.
func (p *Pastes) ReadCipher(ctx context.Context, id paste.ID, reader user.ID) (paste.Document, error) {
	document, err := p.find(ctx, id, reader, func(row *model.Paste) error {
		return row.WithoutContent().CipherReadableBy(reader)
	})
	if err == nil && document.CipherReadableBy(reader) != nil { // browsers cannot decrypt what PasteMyst encrypted
		return paste.Document{}, db.ErrNotFound
	}
	return document, err
}

// find reads an active paste. If refuse fails for its row, find fails too, and does not read the content.
func (p *Pastes) find(
	ctx context.Context, id paste.ID, reader user.ID, refuse func(*model.Paste) error,
) (document paste.Document, err error) {
	if !model.IsText(string(reader)) { // no user has this id
		reader = ""
	}
	err = p.store.Snapshot(ctx, func(tx *gorm.DB) error {
		row, err := p.take(tx, id, reader)
		if err != nil {
			return err
		}
		if err := refuse(row); err != nil {
			return err
		}
		rows, err := model.Load(tx, row)
		document = rows.Domain()
		return err
	}, p.store.Pastes)
	if err != nil {
		return paste.Document{}, err
	}
	return document, nil
}

// pasteColumns are the columns of model.Paste. A prepared SELECT * would fail on PostgreSQL once a newer node has added
// a column.
const pasteColumns = `id, owner_id, created_at, expires_at, burns, lifetime, visibility, title, encrypted,
	pasties, tags, edits, content_bytes, history_bytes, delete_key, origin, edited_at, unshared,
	(SELECT count(*) FROM stars s WHERE s.paste_id = pastes.id) AS stars,
	EXISTS (SELECT 1 FROM stars s WHERE s.paste_id = pastes.id AND s.user_id = ?) AS starred`

// take reads the row of an active paste, and whether the reader has starred it.
func (p *Pastes) take(tx *gorm.DB, id paste.ID, reader user.ID) (*model.Paste, error) {
	var row model.Paste
	err := active(p.store, tx.Select(pasteColumns, string(reader)).Where("id = ?", string(id))).Take(&row).Error
	return &row, err
}

// CreateDocument implements paste.Store.
func (p *Pastes) CreateDocument(ctx context.Context, created paste.Document) error {
	rows := model.NewDocument(created, p.store.KeepsSearch())
	return p.store.WriteTogether(ctx, rows.Insert)
}

// CreateAllowed implements paste.Store.
func (p *Pastes) CreateAllowed(
	ctx context.Context, from netip.Addr, allowance paste.Allowance, client paste.Client, created paste.Document,
) (usage paste.Usage, err error) {
	rows := model.NewDocument(created, p.store.KeepsSearch())
	err = p.store.WriteTogether(ctx, p.store.RefuseBlocked(from, func(tx *gorm.DB) error {
		allow, err := p.lockHolder(tx, allowance, created.Owner)
		if err != nil {
			return err
		}
		if err := allow(paste.Holding{Pastes: 1, Bytes: created.Bytes()}); err != nil {
			return err
		}
		if usage, err = p.takeQuota(tx, client, allowance.Rate); err != nil {
			return err
		}
		if err := rows.Insert(tx); err != nil || created.Owner == "" {
			return err
		}
		return db.RefuseHidden(tx, created.Owner)
	}))
	if err != nil {
		return paste.Usage{}, err
	}
	return usage, nil
}

// Update implements paste.Store.
func (p *Pastes) Update(
	ctx context.Context, entry auditlog.Entry, id paste.ID, change func(paste.Document) (paste.Change, error),
) (updated paste.Document, err error) {
	err = p.store.Record(ctx, entry, p.store.WriteTogether, func(tx *gorm.DB) (err error) {
		updated, err = p.update(tx, paste.Allowance{}, "", "", id, change)
		return err
	})
	if err != nil {
		return paste.Document{}, err
	}
	return updated, nil
}

// UpdateAllowed implements paste.Store.
func (p *Pastes) UpdateAllowed(
	ctx context.Context, from netip.Addr, allowance paste.Allowance, client paste.Client, editor user.ID, id paste.ID,
	change func(paste.Document) (paste.Change, error),
) (updated paste.Document, err error) {
	err = p.store.WriteTogether(ctx, p.store.RefuseBlocked(from, func(tx *gorm.DB) (err error) {
		updated, err = p.update(tx, allowance, client, editor, id, change)
		return err
	}))
	if err != nil {
		return paste.Document{}, err
	}
	return updated, nil
}

// update changes a paste in a transaction.
func (p *Pastes) update(
	tx *gorm.DB, allowance paste.Allowance, client paste.Client, editor user.ID, id paste.ID,
	change func(paste.Document) (paste.Change, error),
) (paste.Document, error) {
	allow, err := p.lockHolder(tx, allowance, editor)
	if err != nil {
		return paste.Document{}, err
	}
	before, err := p.lock(tx, id)
	if err != nil {
		return paste.Document{}, err
	}
	document := before.Domain()
	edit, err := change(document)
	if err != nil {
		return paste.Document{}, err
	}
	if !edit.Changed {
		return document, nil
	}
	if _, err := p.takeQuota(tx, client, allowance.Rate); err != nil {
		return paste.Document{}, err
	}
	edit.ID, edit.CreatedAt, edit.Burns = document.ID, document.CreatedAt, document.Burns
	edit.Cipher, edit.Stars = document.Cipher, document.Stars
	after := model.NewDocument(edit.Document, p.store.KeepsSearch())
	after.Paste.Unshared = paste.Unshared(before.Paste.Unshared, document.Visibility, edit.Visibility)
	if err := allow(paste.Holding{Bytes: after.Bytes() - before.Bytes()}); err != nil {
		return paste.Document{}, err
	}
	return edit.Document, after.Replace(tx, before, edit.Dropped)
}

// lockHolder locks a user with an allowance until the transaction ends, so that concurrent writes cannot exceed the
// allowance together. allow fails when the user may not store more. Its statement comes after the lock, so it sees what
// earlier holders of the lock wrote.
func (p *Pastes) lockHolder(
	tx *gorm.DB, allowance paste.Allowance, holder user.ID,
) (allow func(more paste.Holding) error, err error) {
	if holder == "" || allowance.Pastes == 0 && allowance.Bytes == 0 {
		return func(paste.Holding) error { return nil }, nil
	}
	return func(more paste.Holding) error {
		holding, err := holdingOf(active(p.store, tx.Where("owner_id = ?", string(holder))))
		if err != nil {
			return err
		}
		return allowance.Add(holding, more)
	}, lockUser(tx, holder)
}

// holdingOf sums up the pastes of a query.
func holdingOf(pastes *gorm.DB) (holding paste.Holding, err error) {
	err = pastes.Model(&model.Paste{}).
		Select("count(*) AS pastes, cast(coalesce(sum(content_bytes + history_bytes), 0) AS bigint) AS bytes").
		Scan(&holding).Error
	return holding, err
}

// lock locks an active paste until the transaction ends, and reads it. Separate statements read its content, because
// the statement that waits for the lock would return the content from before the wait.
func (p *Pastes) lock(tx *gorm.DB, id paste.ID) (*model.Document, error) {
	row, err := p.lockRow(tx, id)
	if err != nil {
		return nil, err
	}
	return model.Load(tx, row)
}

// lockRow is lock without the content. The condition on expiry must hold for the row as it is after the wait. The LIMIT
// keeps PostgreSQL from moving the condition into the subquery that locks.
func (p *Pastes) lockRow(tx *gorm.DB, id paste.ID) (*model.Paste, error) {
	lock := db.ForUpdate(tx).Model(&model.Paste{}).Select("*").Where("id = ?", string(id)).Limit(1)
	return p.take(tx.Table("(?) AS pastes", lock), id, "")
}

// DeleteIf implements paste.Store.
func (p *Pastes) DeleteIf(ctx context.Context, entry auditlog.Entry, id paste.ID, allow func(paste.Paste) error) error {
	return p.store.Record(ctx, entry, p.store.WritePaste, func(tx *gorm.DB) error {
		row, err := p.lockRow(tx, id)
		if err != nil {
			return err
		}
		if err := allow(row.Domain()); err != nil {
			return err
		}
		return p.delete(tx, row)
	})
}

// Burn implements paste.Store.
func (p *Pastes) Burn(ctx context.Context, id paste.ID, reader user.ID) (document paste.Document, err error) {
	err = p.store.WritePaste(ctx, func(tx *gorm.DB) error {
		row, err := p.lockRow(tx, id)
		if err != nil {
			return err
		}
		if err := row.WithoutContent().BurnableBy(reader); err != nil {
			return err
		}
		rows, err := model.Load(tx, row)
		if err != nil {
			return err
		}
		document = rows.Domain()
		return p.delete(tx, row)
	})
	if err != nil {
		return paste.Document{}, err
	}
	return document, nil
}

// delete removes a lock paste.
func (p *Pastes) delete(tx *gorm.DB, row *model.Paste) error {
	if err := addTombstones(p.store, tx, model.PasteTombstone, row.ID); err != nil {
		return err
	}
	return db.OrNotFound(tx.Where("id = ?", row.ID).Delete(&model.Paste{})) // foreign keys delete its content
}

// lockUser locks a user until the transaction ends. Imports, which replace a user's stars, lock it, too.
func lockUser(tx *gorm.DB, id user.ID) error {
	return db.ForUpdate(tx).Select("id").Where("id = ?", string(id)).Take(&model.User{}).Error
}

// Star implements paste.Store.
func (p *Pastes) Star(ctx context.Context, from netip.Addr, starrer user.ID, id paste.ID) error {
	return p.store.Transaction(ctx, p.store.RefuseBlocked(from, func(tx *gorm.DB) error {
		if err := lockUser(tx, starrer); err != nil {
			return err
		}
		return tx.Exec(`INSERT INTO stars (user_id, paste_id, position)
			SELECT ?, ?, coalesce(max(s.position) + 1, 0) FROM stars s WHERE s.user_id = ?
			ON CONFLICT (user_id, paste_id) DO NOTHING`, string(starrer), string(id), string(starrer)).Error
	}))
}

// Unstar implements paste.Store.
func (p *Pastes) Unstar(ctx context.Context, from netip.Addr, starrer user.ID, id paste.ID) error {
	return p.store.Transaction(ctx, p.store.RefuseBlocked(from, func(tx *gorm.DB) error {
		if err := lockUser(tx, starrer); err != nil {
			return err
		}
		return db.OrNotFound(tx.Where("paste_id = ? AND user_id = ?", string(id), string(starrer)).Delete(&model.Star{}))
	}))
}
