package gormstore

import (
	"context"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/paste"
)

// Import implements paste.Importer.
func (p *Pastes) Import(ctx context.Context, pastes []paste.Paste) ([]batch.Result, error) {
	return importBatch(ctx, p.store, pastesImport, pastes, importPastes)
}

func importPastes(tx *gorm.DB, pastes []paste.Paste) ([]batch.Result, error) {
	ids, owners := make([]string, len(pastes)), make([]string, 0, len(pastes))
	for i, wanted := range pastes {
		ids[i] = string(wanted.ID)
		if wanted.Owner != "" {
			owners = append(owners, string(wanted.Owner))
		}
	}
	exists, err := lockOwners(tx, owners)
	if err != nil {
		return nil, err
	}
	var rows []pasteRow
	if err := forUpdate(tx).Where("id IN ?", ids).Order("id").Find(&rows).Error; err != nil {
		return nil, err
	}
	known := make(map[paste.ID]paste.Paste, len(rows))
	for _, row := range rows {
		found := row.paste()
		known[found.ID] = found
	}
	results, changed := make([]batch.Result, len(pastes)), make(map[string]pasteRow, len(pastes))
	for i, wanted := range pastes {
		before, ok := known[wanted.ID]
		switch {
		case wanted.Owner != "" && !exists[string(wanted.Owner)]:
			results[i].Err = errUnknownOwner
			continue
		case ok && before == wanted:
			results[i].Outcome = batch.Unchanged
			continue
		case ok:
			results[i].Outcome = batch.Updated
		}
		known[wanted.ID], changed[ids[i]] = wanted, *newPasteRow(wanted)
	}
	return results, upsertInOrder(tx, changed)
}
