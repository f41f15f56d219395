package gormstore

import (
	"context"
	"crypto/rand"
	"maps"
	"slices"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/adapters/gormstore/connection"
	"github.com/gluepot/gluepot/adapters/gormstore/model"
	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

var errNameTaken = fault.New(fault.Conflict, "The username belongs to a user with another id; names that differ only in case are the same.")

// Import implements user.Importer.
func (u *Users) Import(ctx context.Context, accounts []user.Import) ([]batch.Result, error) {
	return importBatch(ctx, u.store, usersImport, accounts, importUsers)
}

// importedUser is a user with identities and stars, which are replaced as a whole.
type importedUser struct {
	row      model.User
	services map[string]string
	stars    []string
}

func importUsers(tx *gorm.DB, accounts []user.Import) ([]batch.Result, error) {
	ids, folded := make([]string, len(accounts)), make([]string, len(accounts))
	for i, account := range accounts {
		ids[i], folded[i] = string(account.ID), account.Name.Folded()
	}
	known, err := lockImportedUsers(tx, ids)
	if err != nil {
		return nil, err
	}
	gone, err := buried(tx, model.UserTombstone, ids) // after the lock, to see the tombstone of a deletion that it waited for
	if err != nil {
		return nil, err
	}
	for id := range known {
		delete(gone, id)
	}
	var holders []model.User
	if err := tx.Where("username_folded IN ?", folded).Find(&holders).Error; err != nil {
		return nil, err
	}
	current := make(map[string]string, len(accounts)) // id -> folded name
	for id, found := range known {
		current[id] = foldedName(found.row.Username)
	}
	for _, row := range holders {
		current[row.ID] = foldedName(row.Username)
	}
	refused := make([]bool, len(accounts))
	for i, id := range ids {
		refused[i] = gone[id]
	}
	refuse(ids, folded, current, refused)
	results, changed, moving := make([]batch.Result, len(accounts)), make(map[string]bool), []string(nil)
	for i, account := range accounts {
		id := ids[i]
		switch {
		case gone[id]:
			results[i].Outcome = batch.RemovedEarlier
			continue
		case refused[i]:
			results[i].Err = errNameTaken
			continue
		}
		before, ok := known[id]
		var stored user.Account
		if ok {
			if stored.User, err = before.row.Domain(); err != nil {
				return nil, err
			}
			stored.Services, stored.Stars = before.services, before.stars
		}
		made := account.Over(stored)
		wanted := &importedUser{row: *model.NewUser(made.User), services: made.Services, stars: made.Stars}
		if ok {
			results[i].Outcome = batch.Updated
			if wanted.row == before.row && maps.Equal(wanted.services, before.services) && slices.Equal(wanted.stars, before.stars) {
				results[i].Outcome = batch.Unchanged
				continue
			}
		}
		if ok && current[id] != folded[i] {
			moving = append(moving, id)
		}
		known[id], changed[id] = wanted, true
	}
	for _, id := range moving { // users may swap names: give the old ones up first
		err := tx.Model(&model.User{}).Where("id = ?", id).Update("username", "moving-"+rand.Text()).Error
		if err != nil {
			return nil, err
		}
	}
	return results, storeImportedUsers(tx, known, slices.Sorted(maps.Keys(changed)))
}

// lockImportedUsers locks the users that exist, in the order of their ids, and returns them.
func lockImportedUsers(tx *gorm.DB, ids []string) (map[string]*importedUser, error) {
	var (
		rows     []model.User
		services []model.Identity
		stars    []model.Star
	)
	if err := connection.ForUpdate(tx).Where("id IN ?", ids).Order("id").Find(&rows).Error; err != nil {
		return nil, err
	}
	locked := make([]string, len(rows)) // not ids: a user may have been created since
	for i, row := range rows {
		locked[i] = row.ID
	}
	if err := tx.Where("user_id IN ?", locked).Find(&services).Error; err != nil {
		return nil, err
	}
	if err := tx.Where("user_id IN ?", locked).Order("user_id, position, paste_id").Find(&stars).Error; err != nil {
		return nil, err
	}
	known := make(map[string]*importedUser, len(rows))
	for _, row := range rows {
		row.CreatedAt = model.Instant(row.CreatedAt)
		known[row.ID] = &importedUser{row: row, services: make(map[string]string)}
	}
	for _, row := range services {
		known[row.UserID].services[row.Provider] = row.Subject
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
		rows     []model.User
		services []model.Identity
		stars    []model.Star
	)
	for _, id := range ids {
		changed := users[id]
		rows = append(rows, changed.row)
		services = append(services, model.NewIdentities(id, changed.services)...)
		for position, star := range changed.stars {
			stars = append(stars, model.Star{UserID: id, PasteID: star, Position: position})
		}
	}
	if err := model.Insert(upsert(tx), rows); err != nil {
		return err
	}
	for _, list := range []any{&model.Identity{}, &model.Star{}} {
		if err := tx.Where("user_id IN ?", ids).Delete(list).Error; err != nil {
			return err
		}
	}
	if err := model.Insert(tx, services); err != nil {
		return err
	}
	return model.Insert(tx, stars)
}

func foldedName(spelling string) string {
	name, err := user.ParseName(spelling)
	if err != nil {
		return spelling // unreachable: the table checks names
	}
	return name.Folded()
}
