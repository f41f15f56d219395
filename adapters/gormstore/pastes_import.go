package gormstore

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/adapters/gormstore/db"
	"github.com/gluepot/gluepot/adapters/gormstore/model"
	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/user"
)

// Import implements paste.Store.
func (p *Pastes) Import(ctx context.Context, pastes []paste.Import, orphans paste.Orphans) ([]batch.Result, error) {
	store := func(tx *gorm.DB, pastes []paste.Import) ([]batch.Result, error) {
		return importPastes(tx, pastes, orphans, p.store.KeepsSearch())
	}
	return importBatch(ctx, p.store, pastesImport, pastes, store)
}

func importPastes(tx *gorm.DB, pastes []paste.Import, orphans paste.Orphans, searched bool) ([]batch.Result, error) {
	ids, owners := make([]string, len(pastes)), make([]string, len(pastes))
	for i, record := range pastes {
		ids[i], owners[i] = string(record.ID), string(record.Over(paste.Document{}, false).Owner)
	}
	users, err := lockOwners(tx, owners)
	if err != nil {
		return nil, err
	}
	deletedUsers, err := withTombstones(tx, model.UserTombstone, owners)
	if err != nil {
		return nil, err
	}
	existing, err := lockPastes(tx, ids)
	if err != nil {
		return nil, err
	}
	// after the lock, to see the tombstone of a deletion that it waited for
	deletedPastes, err := withTombstones(tx, model.PasteTombstone, ids)
	if err != nil {
		return nil, err
	}
	results, changed := make([]batch.Result, len(pastes)), make(map[string]*model.Document, len(pastes))
	for i, record := range pastes {
		id, owner := ids[i], owners[i]
		orphan := owner != "" && !users[owner]
		switch {
		case deletedPastes[id] && existing[id] == nil || orphan && deletedUsers[owner]:
			results[i].Outcome = batch.RemovedEarlier
			continue
		case orphan && orphans != paste.AnonymizeOrphans:
			results[i].Err = errUnknownOwner
			continue
		case orphan:
			record.Owner = new(user.ID)
		}
		before, unshared := cmp.Or(changed[id], existing[id]), false
		if before != nil {
			results[i].Outcome = batch.Updated
			unshared = before.Paste.Unshared
		}
		imported := model.NewDocument(record.Over(before.Domain(), unshared), searched)
		imported.Paste.Unshared = unshared
		if before != nil && equal(imported.Domain(), before.Domain()) {
			results[i].Outcome = batch.Unchanged
			continue
		}
		changed[id] = imported
	}
	return results, storePastes(tx, changed, existing)
}

// equal reports whether two pastes are the same but for their stars.
func equal(a, b paste.Document) bool {
	same := a.Cipher.Equal(b.Cipher)
	a.Cipher, a.Stars = b.Cipher, b.Stars
	return same && reflect.DeepEqual(a, b)
}

// lockPastes locks the pastes that exist and were not removed, in the order of their ids, and returns them.
func lockPastes(tx *gorm.DB, ids []string) (map[string]*model.Document, error) {
	var rows []*model.Paste
	err := db.ForUpdate(tx).Omit("Stars", "Starred").Where("id IN ? AND removed_at IS NULL", ids).
		Order("id").Find(&rows).Error
	if err != nil {
		return nil, err
	}
	return model.LoadAll(tx, rows)
}

// storePastes inserts pastes, or replaces existing ones.
func storePastes(tx *gorm.DB, pastes, existing map[string]*model.Document) error {
	var (
		all               model.Document
		inserted, updated []*model.Paste
		updatedIDs        []string
		ciphers           []*model.PasteCipher
		texts             []*model.PasteText
	)
	for _, id := range slices.Sorted(maps.Keys(pastes)) {
		p := pastes[id]
		if _, ok := existing[id]; ok {
			updatedIDs, updated = append(updatedIDs, id), append(updated, p.Paste)
		} else {
			inserted = append(inserted, p.Paste)
		}
		all.Pasties = append(all.Pasties, p.Pasties...)
		all.Tags, all.Edits = append(all.Tags, p.Tags...), append(all.Edits, p.Edits...)
		if p.Cipher != nil {
			ciphers = append(ciphers, p.Cipher)
		}
		if p.Text != nil {
			texts = append(texts, p.Text)
		}
	}
	if len(updatedIDs) > 0 {
		for _, row := range []any{
			&model.Pasty{}, &model.PasteTag{}, &model.PasteEdit{}, &model.PasteCipher{}, &model.PasteText{},
		} {
			if err := tx.Where("paste_id IN ?", updatedIDs).Delete(row).Error; err != nil {
				return err
			}
		}
	}
	if err := model.Insert(upsert(tx), updated); err != nil {
		return err
	}
	// It fails if another writer has just stored one of the rows. Then the batch is tried again.
	return model.Insert(tx, inserted, ciphers, texts, all.Pasties, all.Tags, all.Edits)
}
