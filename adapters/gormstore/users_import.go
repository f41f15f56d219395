package gormstore

import (
	"context"
	"crypto/rand"
	"maps"
	"slices"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/adapters/gormstore/db"
	"github.com/gluepot/gluepot/adapters/gormstore/model"
	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

var errNameTaken = fault.New(fault.Conflict,
	"The username belongs to a user with another id; names that differ only in case are the same.")

// Import implements user.Store.
func (u *Users) Import(ctx context.Context, accounts []user.Import) ([]batch.Result, error) {
	return importBatch(ctx, u.store, usersImport, accounts,
		func(tx *gorm.DB, accounts []user.Import) ([]batch.Result, error) {
			return importUsers(u.store, tx, accounts)
		})
}

// importedAccount is an account with the changes that were made on this server.
type importedAccount struct {
	user.Account

	local user.LocalChanges
}

func importUsers(s *db.Store, tx *gorm.DB, imports []user.Import) ([]batch.Result, error) {
	ids, names := make([]string, len(imports)), make([]string, len(imports))
	for i, record := range imports {
		ids[i], names[i] = string(record.ID), record.Name.Folded()
	}
	accounts, err := lockAccounts(tx, ids)
	if err != nil {
		return nil, err
	}
	// after the lock, to see the tombstone of a deletion that it waited for
	deleted, err := withTombstones(tx, model.UserTombstone, ids)
	if err != nil {
		return nil, err
	}
	var rows []struct{ ID, UsernameFolded string }
	err = tx.Model(&model.User{}).Select("id, username_folded").
		Where("id IN ? OR username_folded IN ?", ids, names).Scan(&rows).Error
	if err != nil {
		return nil, err
	}
	current := make(map[string]string, len(rows)) // id -> folded name
	for _, row := range rows {
		current[row.ID] = row.UsernameFolded
	}
	results, refused := make([]batch.Result, len(imports)), make([]bool, len(imports))
	for i, id := range ids {
		if deleted[id] && accounts[id] == nil {
			results[i].Outcome, refused[i] = batch.RemovedEarlier, true
		}
	}
	refuse(ids, names, current, refused)
	changed := make(map[string]*importedAccount)
	for i, record := range imports {
		id := ids[i]
		before, ok := accounts[id]
		switch {
		case results[i].Outcome == batch.RemovedEarlier:
			continue
		case refused[i]:
			results[i].Err = errNameTaken
			continue
		case !ok:
			before = new(importedAccount)
		}
		after := importedAccount{record.Over(before.Account, before.local), before.local}
		after.CreatedAt = model.Instant(after.CreatedAt)
		if ok {
			results[i].Outcome = batch.Updated
			if after.User == before.User && maps.Equal(after.Identities, before.Identities) &&
				slices.Equal(after.Stars, before.Stars) {
				results[i].Outcome = batch.Unchanged
				continue
			}
		}
		accounts[id], changed[id] = &after, &after
	}
	for _, id := range slices.Sorted(maps.Keys(changed)) { // users may swap names: give the old ones up first
		if name, ok := current[id]; !ok || name == changed[id].Name.Folded() {
			continue
		}
		err := tx.Model(&model.User{}).Where("id = ?", id).Update("username", "moving-"+rand.Text()).Error
		if err != nil {
			return nil, err
		}
		if err := giveUpName(s, tx, current[id], id); err != nil {
			return nil, err
		}
	}
	return results, storeAccounts(tx, changed)
}

// lockAccounts locks the users that exist, in the order of their ids, and returns them.
func lockAccounts(tx *gorm.DB, ids []string) (map[string]*importedAccount, error) {
	var (
		rows       []model.User
		identities []model.Identity
		unlinked   []model.UnlinkedIdentity
		stars      []model.Star
	)
	if err := db.ForUpdate(tx).Where("id IN ?", ids).Order("id").Find(&rows).Error; err != nil {
		return nil, err
	}
	accounts := make(map[string]*importedAccount, len(rows))
	for _, row := range rows {
		u, err := row.Domain()
		if err != nil {
			return nil, err
		}
		accounts[row.ID] = &importedAccount{
			user.Account{User: u, Identities: make(map[string]string)},
			user.LocalChanges{Linked: make(map[string]bool), Unlinked: make(map[string]map[string]bool),
				Closed: row.ProfileClosed},
		}
	}
	locked := slices.Collect(maps.Keys(accounts)) // not ids: a user may have been created since
	if err := tx.Where("user_id IN ?", locked).Find(&identities).Error; err != nil {
		return nil, err
	}
	if err := tx.Where("user_id IN ?", locked).Find(&unlinked).Error; err != nil {
		return nil, err
	}
	if err := tx.Where("user_id IN ?", locked).Order("user_id, position, paste_id").Find(&stars).Error; err != nil {
		return nil, err
	}
	for _, row := range identities {
		account := accounts[row.UserID]
		account.Identities[row.Provider] = row.Subject
		if !row.Imported {
			account.local.Linked[row.Provider] = true
		}
	}
	for _, row := range unlinked {
		subjects := accounts[row.UserID].local.Unlinked
		if subjects[row.Provider] == nil {
			subjects[row.Provider] = make(map[string]bool)
		}
		subjects[row.Provider][row.Subject] = true
	}
	for _, row := range stars {
		accounts[row.UserID].Stars = append(accounts[row.UserID].Stars, row.PasteID)
	}
	return accounts, nil
}

// storeAccounts upserts users in the order of their ids, and replaces their lists.
func storeAccounts(tx *gorm.DB, accounts map[string]*importedAccount) error {
	var (
		ids        = slices.Sorted(maps.Keys(accounts))
		rows       []*model.User
		identities []model.Identity
		stars      []model.Star
	)
	for _, id := range ids {
		account := accounts[id]
		row := model.NewUser(account.User)
		row.ProfileClosed = account.local.Closed
		rows = append(rows, row)
		for provider, subject := range account.Identities {
			imported := !account.local.Linked[provider]
			identities = append(identities, model.Identity{UserID: id, Provider: provider, Subject: subject, Imported: imported})
		}
		for position, star := range account.Stars {
			stars = append(stars, model.Star{UserID: id, PasteID: star, Position: position})
		}
	}
	if err := model.Insert(upsert(tx), rows); err != nil || len(ids) == 0 {
		return err
	}
	for _, row := range []any{&model.Identity{}, &model.Star{}} {
		if err := tx.Where("user_id IN ?", ids).Delete(row).Error; err != nil {
			return err
		}
	}
	return model.Insert(tx, identities, stars)
}
