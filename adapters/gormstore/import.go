package gormstore

import (
	"context"
	"maps"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/paste"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

var (
	_ user.Importer  = (*Users)(nil)
	_ token.Importer = (*Tokens)(nil)
	_ paste.Importer = (*Pastes)(nil)

	errNameTaken    = fault.New(fault.Conflict, "The username belongs to a user with another id; names that differ only in case are the same.")
	errUnknownOwner = fault.New(fault.NotFound, "The owner is not a user here. Import the users first.")
	errHashTaken    = fault.New(fault.Conflict, "The key belongs to another user.")
)

// insertRows is how many rows one INSERT has: SQLite takes 32766 parameters, PostgreSQL 65535.
const insertRows = 1000

// Import implements user.Importer.
func (u *Users) Import(ctx context.Context, accounts []user.Account) (results []batch.Result, err error) {
	err = u.store.gorm.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		results, err = importUsers(tx, accounts)
		return err
	})
	return results, translate(err)
}

// importedUser is a user with the lists that are compared and replaced as a whole.
type importedUser struct {
	row      userRow
	services map[string]string
	stars    []string
}

func importUsers(tx *gorm.DB, accounts []user.Account) ([]batch.Result, error) {
	ids, folded := make([]string, len(accounts)), make([]string, len(accounts))
	for i, account := range accounts {
		ids[i], folded[i] = string(account.ID), account.Name.Folded()
	}
	known, err := loadImportedUsers(tx, ids)
	if err != nil {
		return nil, err
	}
	holders := make(map[string]string, len(accounts)) // folded name -> id
	var taken []userRow
	if err := tx.Where("username_folded IN ?", folded).Find(&taken).Error; err != nil {
		return nil, err
	}
	for _, row := range taken {
		holders[foldedName(row.Username)] = row.ID
	}
	results, changed := make([]batch.Result, len(accounts)), make(map[string]bool)
	for i, account := range accounts {
		id := string(account.ID)
		if holder, ok := holders[account.Name.Folded()]; ok && holder != id {
			results[i].Err = errNameTaken
			continue
		}
		wanted := &importedUser{row: *newUserRow(account.User), services: account.Services, stars: account.Stars}
		if before, ok := known[id]; ok {
			wanted.row.CreatedAt = before.row.CreatedAt // an export does not have it
			results[i].Outcome = batch.Updated
			if wanted.row == before.row && maps.Equal(wanted.services, before.services) && slices.Equal(wanted.stars, before.stars) {
				results[i].Outcome = batch.Unchanged
				continue
			}
			delete(holders, foldedName(before.row.Username))
		}
		holders[account.Name.Folded()] = id
		known[id], changed[id] = wanted, true
	}
	return results, storeImportedUsers(tx, known, slices.Sorted(maps.Keys(changed)))
}

func loadImportedUsers(tx *gorm.DB, ids []string) (map[string]*importedUser, error) {
	var (
		rows     []userRow
		services []serviceRow
		stars    []starRow
	)
	if err := tx.Where("id IN ?", ids).Find(&rows).Error; err != nil {
		return nil, err
	}
	if err := tx.Where("user_id IN ?", ids).Find(&services).Error; err != nil {
		return nil, err
	}
	if err := tx.Where("user_id IN ?", ids).Order("user_id, position, paste_id").Find(&stars).Error; err != nil {
		return nil, err
	}
	known := make(map[string]*importedUser, len(rows))
	for _, row := range rows {
		row.CreatedAt = instant(row.CreatedAt)
		known[row.ID] = &importedUser{row: row, services: make(map[string]string)}
	}
	for _, row := range services {
		known[row.UserID].services[row.Service] = row.ServiceUserID
	}
	for _, row := range stars {
		known[row.UserID].stars = append(known[row.UserID].stars, row.PasteID)
	}
	return known, nil
}

func storeImportedUsers(tx *gorm.DB, users map[string]*importedUser, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	var (
		rows     []userRow
		services []serviceRow
		stars    []starRow
	)
	for _, id := range ids {
		changed := users[id]
		rows = append(rows, changed.row)
		services = append(services, newServiceRows(id, changed.services)...)
		for position, star := range changed.stars {
			stars = append(stars, starRow{UserID: id, PasteID: star, Position: position})
		}
	}
	if err := upsert(tx, "id").CreateInBatches(rows, insertRows).Error; err != nil {
		return err
	}
	for _, list := range []any{&serviceRow{}, &starRow{}} {
		if err := tx.Where("user_id IN ?", ids).Delete(list).Error; err != nil {
			return err
		}
	}
	if len(services) > 0 {
		if err := tx.CreateInBatches(services, insertRows).Error; err != nil {
			return err
		}
	}
	if len(stars) > 0 {
		return tx.CreateInBatches(stars, insertRows).Error
	}
	return nil
}

// Import implements token.Importer.
func (t *Tokens) Import(ctx context.Context, tokens []token.Token) (results []batch.Result, err error) {
	err = t.store.gorm.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		results, err = importTokens(tx, tokens)
		return err
	})
	return results, translate(err)
}

func importTokens(tx *gorm.DB, tokens []token.Token) ([]batch.Result, error) {
	ids, hashes, owners := make([]string, len(tokens)), make([][]byte, len(tokens)), make([]string, len(tokens))
	for i := range tokens {
		ids[i], hashes[i], owners[i] = string(tokens[i].ID), tokens[i].Hash[:], string(tokens[i].Owner)
	}
	exists, err := existingUsers(tx, owners)
	if err != nil {
		return nil, err
	}
	var rows []tokenRow
	if err := tx.Where("id IN ? OR hash IN ?", ids, hashes).Find(&rows).Error; err != nil {
		return nil, err
	}
	byID, holders := make(map[token.ID]token.Hash), make(map[token.Hash]token.ID)
	for _, row := range rows {
		found := row.token()
		byID[found.ID], holders[found.Hash] = found.Hash, found.ID
	}
	results, changed := make([]batch.Result, len(tokens)), make(map[token.ID]tokenRow)
	for i, wanted := range tokens {
		before, known := byID[wanted.ID]
		holder, held := holders[wanted.Hash]
		switch {
		case !exists[string(wanted.Owner)]:
			results[i].Err = errUnknownOwner
			continue
		case held && holder != wanted.ID:
			results[i].Err = errHashTaken
			continue
		case known && before == wanted.Hash:
			results[i].Outcome = batch.Unchanged
			continue
		case known:
			results[i].Outcome = batch.Updated
			delete(holders, before)
		}
		byID[wanted.ID], holders[wanted.Hash] = wanted.Hash, wanted.ID
		changed[wanted.ID] = *newTokenRow(wanted)
	}
	if len(changed) == 0 {
		return results, nil
	}
	return results, upsert(tx, "id").CreateInBatches(slices.Collect(maps.Values(changed)), insertRows).Error
}

// Import implements paste.Importer.
func (p *Pastes) Import(ctx context.Context, pastes []paste.Paste) (results []batch.Result, err error) {
	err = p.store.gorm.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		results, err = importPastes(tx, pastes)
		return err
	})
	return results, translate(err)
}

func importPastes(tx *gorm.DB, pastes []paste.Paste) ([]batch.Result, error) {
	ids, owners := make([]string, len(pastes)), make([]string, 0, len(pastes))
	for i, wanted := range pastes {
		ids[i] = string(wanted.ID)
		if wanted.Owner != "" {
			owners = append(owners, string(wanted.Owner))
		}
	}
	exists, err := existingUsers(tx, owners)
	if err != nil {
		return nil, err
	}
	var rows []pasteRow
	if err := tx.Where("id IN ?", ids).Find(&rows).Error; err != nil {
		return nil, err
	}
	known := make(map[paste.ID]paste.Paste, len(rows))
	for _, row := range rows {
		found := row.paste()
		known[found.ID] = found
	}
	results, changed := make([]batch.Result, len(pastes)), make(map[paste.ID]pasteRow, len(pastes))
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
		known[wanted.ID], changed[wanted.ID] = wanted, *newPasteRow(wanted)
	}
	if len(changed) == 0 {
		return results, nil
	}
	return results, upsert(tx, "id").CreateInBatches(slices.Collect(maps.Values(changed)), insertRows).Error
}

func existingUsers(tx *gorm.DB, ids []string) (map[string]bool, error) {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	exists := make(map[string]bool, len(ids))
	if len(ids) == 0 {
		return exists, nil
	}
	var found []string
	if err := tx.Model(&userRow{}).Where("id IN ?", ids).Pluck("id", &found).Error; err != nil {
		return nil, err
	}
	for _, id := range found {
		exists[id] = true
	}
	return exists, nil
}

func upsert(tx *gorm.DB, key string) *gorm.DB {
	return tx.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: key}}, UpdateAll: true})
}

func foldedName(spelling string) string {
	name, err := user.ParseName(spelling)
	if err != nil {
		return spelling // the table's check rules it out
	}
	return name.Folded()
}
