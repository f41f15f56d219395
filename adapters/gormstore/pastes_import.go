package gormstore

import (
	"context"
	"database/sql"
	"maps"
	"reflect"
	"slices"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/adapters/gormstore/connection"
	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/paste"
)

// Import implements paste.Importer.
func (p *Pastes) Import(ctx context.Context, pastes []paste.Document, orphans paste.Orphans) ([]batch.Result, error) {
	all := make([]*pasteRows, len(pastes))
	for i := range pastes {
		all[i] = newPasteRows(p.store, pastes[i])
	}
	return importBatch(ctx, p.store, pastesImport, all, func(tx *gorm.DB, pastes []*pasteRows) ([]batch.Result, error) {
		return importPastes(tx, pastes, orphans)
	})
}

func importPastes(tx *gorm.DB, pastes []*pasteRows, orphans paste.Orphans) ([]batch.Result, error) {
	ids, owners := make([]string, len(pastes)), make([]string, 0, len(pastes))
	for i, p := range pastes {
		ids[i] = p.paste.ID
		if p.paste.OwnerID.Valid {
			owners = append(owners, p.paste.OwnerID.String)
		}
	}
	exists, err := lockOwners(tx, owners)
	if err != nil {
		return nil, err
	}
	goneUsers, err := buried(tx, userTombstone, owners)
	if err != nil {
		return nil, err
	}
	known, err := lockPastes(tx, ids)
	if err != nil {
		return nil, err
	}
	gonePastes, err := buried(tx, pasteTombstone, ids) // after the lock, to see the tombstone of a deletion that it waited for
	if err != nil {
		return nil, err
	}
	results, changed := make([]batch.Result, len(pastes)), make(map[string]*pasteRows, len(pastes))
	for i, p := range pastes {
		owner := p.paste.OwnerID
		switch {
		case gonePastes[ids[i]] && known[ids[i]] == nil || owner.Valid && goneUsers[owner.String] && !exists[owner.String]:
			results[i].Outcome = batch.RemovedEarlier
			continue
		case owner.Valid && !exists[owner.String] && orphans != paste.AnonymizeOrphans:
			results[i].Err = errUnknownOwner
			continue
		case owner.Valid && !exists[owner.String]:
			p = p.withoutOwner()
		}
		before, ok := known[ids[i]]
		if earlier, again := changed[ids[i]]; again {
			before, ok = earlier, true
		}
		if ok {
			p.paste.Burns = before.paste.Burns // exports lack it
			results[i].Outcome = batch.Updated
			if p.equal(before) {
				results[i].Outcome = batch.Unchanged
				continue
			}
		}
		changed[ids[i]] = p
	}
	return results, storePastes(tx, changed, known)
}

// withoutOwner returns an anonymous copy of the paste. The original is needed again if the batch is retried.
func (r *pasteRows) withoutOwner() *pasteRows {
	anonymous, row := *r, *r.paste
	row.OwnerID = sql.NullString{}
	anonymous.paste, anonymous.texts = &row, nil
	return &anonymous
}

// equal compares what an export contains.
func (r *pasteRows) equal(other *pasteRows) bool {
	a, b := r.document(), other.document()
	same := a.Cipher.Equal(b.Cipher)
	a.Cipher, a.Stars, a.Origin = b.Cipher, b.Stars, b.Origin
	return same && reflect.DeepEqual(a, b)
}

// lockPastes locks the pastes that exist, in the order of their ids, and returns them.
func lockPastes(tx *gorm.DB, ids []string) (map[string]*pasteRows, error) {
	var rows []*pasteRow
	if err := connection.ForUpdate(tx).Omit("Stars", "Starred").Where("id IN ?", ids).Order("id").Find(&rows).Error; err != nil {
		return nil, err
	}
	return loadAll(tx, rows)
}

// storePastes inserts pastes, and replaces known ones.
func storePastes(tx *gorm.DB, pastes, known map[string]*pasteRows) error {
	var (
		all       pasteRows
		rows, old []*pasteRow
		ciphers   []*cipherRow
		texts     []*textRow
		replaced  []string
		sortedIDs = slices.Sorted(maps.Keys(pastes))
	)
	for _, id := range sortedIDs {
		p := pastes[id]
		if _, ok := known[id]; ok {
			replaced, old = append(replaced, id), append(old, p.paste)
		} else {
			rows = append(rows, p.paste)
		}
		all.pasties = append(all.pasties, p.pasties...)
		all.tags, all.edits = append(all.tags, p.tags...), append(all.edits, p.edits...)
		ciphers, texts = append(ciphers, ifAny(p.cipher)...), append(texts, ifAny(p.texts)...)
	}
	if len(replaced) > 0 {
		for _, table := range []any{&pastyRow{}, &tagRow{}, &editRow{}, &cipherRow{}, &textRow{}} {
			if err := tx.Where("paste_id IN ?", replaced).Delete(table).Error; err != nil {
				return err
			}
		}
	}
	if err := insert(upsert(tx).Omit("Origin"), old); err != nil {
		return err
	}
	// It fails if another writer has just stored one of the rows; then the batch is retried.
	return insert(tx, rows, ciphers, texts, all.pasties, all.tags, all.edits)
}
