package gormstore

import (
	"context"
	"crypto/rand"
	"maps"
	"slices"

	"gorm.io/gorm"

	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

var errNameTaken = fault.New(fault.Conflict, "The username belongs to a user with another id; names that differ only in case are the same.")

// Import implements user.Importer.
func (u *Users) Import(ctx context.Context, accounts []user.Account) ([]batch.Result, error) {
	return importBatch(ctx, u.store, usersImport, accounts, importUsers)
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
	known, err := lockImportedUsers(tx, ids)
	if err != nil {
		return nil, err
	}
	var holders []userRow
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
	settle(ids, folded, current, refused)
	results, changed := make([]batch.Result, len(accounts)), make(map[string]string) // id -> folded name
	for i, account := range accounts {
		id := ids[i]
		if refused[i] {
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
		}
		known[id], changed[id] = wanted, folded[i]
	}
	if err := giveUpNames(tx, known, leaving(current, changed)); err != nil {
		return nil, err
	}
	return results, storeImportedUsers(tx, known, slices.Sorted(maps.Keys(changed)))
}

// giveUpNames gives users names that nobody else has or wants, until they get their own.
func giveUpNames(tx *gorm.DB, users map[string]*importedUser, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	rows := make([]userRow, len(ids))
	for i, id := range ids {
		rows[i] = users[id].row
		rows[i].Username = "moving-" + rand.Text()
	}
	return upsert(tx).CreateInBatches(rows, insertRows).Error
}

// lockImportedUsers returns those of the users that are there, which nobody else can change before the
// transaction ends. Whoever locks several does it in the order of their ids.
func lockImportedUsers(tx *gorm.DB, ids []string) (map[string]*importedUser, error) {
	var (
		rows     []userRow
		services []serviceRow
		stars    []starRow
	)
	if err := forUpdate(tx).Where("id IN ?", ids).Order("id").Find(&rows).Error; err != nil {
		return nil, err
	}
	locked := make([]string, len(rows)) // a user who came after that is not among them, nor are its lists wanted
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
	if err := upsert(tx).CreateInBatches(rows, insertRows).Error; err != nil {
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

func foldedName(spelling string) string {
	name, err := user.ParseName(spelling)
	if err != nil {
		return spelling // the table's check rules it out
	}
	return name.Folded()
}
