package gormstore

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/gluepot/gluepot/adapters/gormstore/connection"
	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

var (
	errUnknownOwner = fault.New(fault.NotFound, "The owner is not a user here. Import the users first.")
	errNameTaken    = fault.New(fault.Conflict,
		"The username belongs to a user with another id; names that differ only in case are the same.")
	errHashTaken = fault.New(fault.Conflict, "The key belongs to another user.")
)

// Names of advisory locks: one import of each kind runs at a time.
const (
	usersImport  = "gluepot: import of users"
	tokensImport = "gluepot: import of tokens"
	pastesImport = "gluepot: import of pastes"
)

// importing runs one import in a transaction. Imports of one kind take turns: two that store the same new records would deadlock on
// their unique values.
func importing(ctx context.Context, s *connection.Store, kind string, store func(tx *gorm.DB) error) error {
	release, err := connection.Acquire(ctx, s.Slow)
	if err != nil {
		return err
	}
	defer release()
	return s.WritePaste(ctx, func(tx *gorm.DB) error {
		if s.Dialect.LockImport != "" {
			if err := tx.Exec(s.Dialect.LockImport, kind).Error; err != nil {
				return err
			}
		}
		return store(tx)
	})
}

// importEach stores records in one transaction, one by one, so that a bad record costs only itself. Before that, lock locks their rows.
func importEach[T any](
	ctx context.Context, s *connection.Store, kind string, records []T,
	lock func(tx *gorm.DB) error, store func(tx *gorm.DB, record T) (batch.Outcome, error),
) ([]batch.Result, error) {
	results := make([]batch.Result, len(records))
	err := importing(ctx, s, kind, func(tx *gorm.DB) error {
		if err := lock(tx); err != nil {
			return err
		}
		for i := range records {
			if err := tx.SavePoint("record").Error; err != nil {
				return err
			}
			outcome, err := store(tx, records[i])
			if err != nil && !isAboutRecords(err) {
				return err
			}
			results[i] = batch.Result{Outcome: outcome, Err: recordFault(err)}
			if err != nil {
				err = tx.RollbackTo("record").Error
			}
			if err := errors.Join(err, tx.Exec("RELEASE SAVEPOINT record").Error); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

// isAboutRecords reports whether err is about the records, and not about the database.
func isAboutRecords(err error) bool {
	switch fault.KindOf(connection.Translate(err)) {
	case fault.Conflict, fault.NotFound, fault.Invalid:
		return true
	}
	return false
}

// recordFault returns the error for one record. What only the database refuses, another caller wrote at the same time.
func recordFault(err error) error {
	if _, ours := errors.AsType[*fault.Error](err); ours || err == nil {
		return err
	}
	switch err = connection.Translate(err); {
	case errors.Is(err, user.ErrServiceTaken):
	case fault.Is(err, fault.Conflict):
		return fault.Wrap(fault.Conflict, "Another writer took the name, the key or the id at the same moment. Import the record again.",
			err)
	case fault.Is(err, fault.NotFound):
		return fault.Wrap(fault.NotFound, errUnknownOwner.Message, err)
	}
	return err
}

// holdsOther reports whether a row with another id has a unique value.
func holdsOther(tx *gorm.DB, model any, column string, value any, id string) (held bool, err error) {
	var found []string
	err = tx.Model(model).Where(column+" = ? AND id <> ?", value, id).Limit(1).Pluck("id", &found).Error
	return len(found) > 0, err
}

// lockRows locks the rows that exist, in the order of their ids.
func lockRows(tx *gorm.DB, model any, ids []string) error {
	var found []string
	return connection.ForUpdate(tx).Model(model).Where("id IN ?", ids).Order("id").Pluck("id", &found).Error
}

// lockOwners returns which of the users exist, and keeps them from being deleted until the transaction ends.
func lockOwners(tx *gorm.DB, ids []string) (map[string]bool, error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	exists := make(map[string]bool, len(ids))
	var found []string
	lock := clause.Locking{Strength: "KEY SHARE"}
	if err := tx.Clauses(lock).Model(&userRow{}).Where("id IN ?", ids).Order("id").Pluck("id", &found).Error; err != nil {
		return nil, err
	}
	for _, id := range found {
		exists[id] = true
	}
	return exists, nil
}

func upsert(tx *gorm.DB) *gorm.DB {
	return tx.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "id"}}, UpdateAll: true})
}

// Import implements user.Importer.
func (u *Users) Import(ctx context.Context, accounts []user.Import) ([]batch.Result, error) {
	ids := make([]string, len(accounts))
	for i := range accounts {
		ids[i] = string(accounts[i].ID)
	}
	lock := func(tx *gorm.DB) error { return lockRows(tx, &userRow{}, ids) }
	return importEach(ctx, u.store, usersImport, accounts, lock, importUser)
}

func importUser(tx *gorm.DB, imported user.Import) (outcome batch.Outcome, err error) {
	id := string(imported.ID)
	before, err := lockAccount(tx, id)
	switch {
	case err == nil:
		outcome = batch.Updated
	case errors.Is(err, gorm.ErrRecordNotFound): // see the tombstone of a deletion that the lock waited for
		gone, err := buried(tx, userTombstone, []string{id})
		if err != nil || gone[id] {
			return batch.RemovedEarlier, err
		}
	default:
		return 0, err
	}
	made := imported.Over(before)
	row := newUserRow(made.User)
	if outcome == batch.Updated && *row == *newUserRow(before.User) &&
		maps.Equal(made.Services, before.Services) && slices.Equal(made.Stars, before.Stars) {
		return batch.Unchanged, nil
	}
	taken, err := holdsOther(tx, &userRow{}, "username_folded", made.Name.Folded(), id)
	if err != nil {
		return 0, err
	}
	if taken {
		return 0, errNameTaken
	}
	if err := upsert(tx).Create(row).Error; err != nil {
		return 0, err
	}
	for _, list := range []any{&identityRow{}, &starRow{}} { // replaced as a whole
		if err := tx.Where("user_id = ?", id).Delete(list).Error; err != nil {
			return 0, err
		}
	}
	stars := make([]starRow, len(made.Stars))
	for position, star := range made.Stars {
		stars[position] = starRow{UserID: id, PasteID: star, Position: position}
	}
	return outcome, insert(tx, newIdentityRows(id, made.Services), stars)
}

// lockAccount locks a user and reads the account, with stars of pastes that are not there, too.
func lockAccount(tx *gorm.DB, id string) (account user.Account, err error) {
	var row userRow
	if err := connection.ForUpdate(tx).Where("id = ?", id).Take(&row).Error; err != nil {
		return user.Account{}, err
	}
	if account.User, err = row.user(); err != nil {
		return user.Account{}, err
	}
	if account.Services, err = servicesOf(tx, id); err != nil {
		return user.Account{}, err
	}
	err = tx.Model(&starRow{}).Where("user_id = ?", id).Order("position, paste_id").Pluck("paste_id", &account.Stars).Error
	return account, err
}

// Import implements token.Importer.
func (t *Tokens) Import(ctx context.Context, tokens []token.Token) ([]batch.Result, error) {
	ids, owners := make([]string, len(tokens)), make([]string, len(tokens))
	for i := range tokens {
		ids[i], owners[i] = string(tokens[i].ID), string(tokens[i].Owner)
	}
	return importEach(ctx, t.store, tokensImport, tokens, func(tx *gorm.DB) error {
		if _, err := lockOwners(tx, owners); err != nil {
			return err
		}
		return lockRows(tx, &tokenRow{}, ids)
	}, importToken)
}

func importToken(tx *gorm.DB, imported token.Token) (outcome batch.Outcome, err error) {
	row, owners := newTokenRow(imported), []string{string(imported.Owner)}
	exists, err := lockOwners(tx, owners)
	if err != nil {
		return 0, err
	}
	if !exists[row.UserID] {
		gone, err := buried(tx, userTombstone, owners)
		if err != nil || gone[row.UserID] {
			return batch.RemovedEarlier, err
		}
		return 0, errUnknownOwner
	}
	var before tokenRow
	switch err := connection.ForUpdate(tx).Where("id = ?", row.ID).Take(&before).Error; {
	case err == nil && bytes.Equal(before.Hash, row.Hash):
		return batch.Unchanged, nil
	case err == nil:
		outcome = batch.Updated
	case !errors.Is(err, gorm.ErrRecordNotFound):
		return 0, err
	}
	taken, err := holdsOther(tx, &tokenRow{}, "hash", row.Hash, row.ID)
	if err != nil {
		return 0, err
	}
	if taken {
		return 0, errHashTaken
	}
	if err := endSessionsOf(tx, []string{row.ID}); err != nil {
		return 0, err
	}
	return outcome, upsert(tx.Omit("User")).Create(row).Error
}
