package gormstore

import (
	"context"
	"errors"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/gluepot/gluepot/adapters/gormstore/db"
	"github.com/gluepot/gluepot/adapters/gormstore/model"
	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

var errUnknownOwner = fault.New(fault.NotFound, "The owner is not a user here. Import the users first.")

// Names of advisory locks: one import of each kind runs at a time.
const (
	usersImport  = "gluepot: import of users"
	tokensImport = "gluepot: import of tokens"
	pastesImport = "gluepot: import of pastes"
)

// batchAttempts is how often a whole batch is tried before its records are stored one by one.
const batchAttempts = 3

// importBatch stores records in one transaction. Imports of one kind take turns: two that store the same new records
// would deadlock on their unique values.
//
// store refuses records that conflict with stored rows. It can still fail when another caller writes at the same time;
// then it runs again and sees those rows. If it keeps failing, the records are stored one by one, so that only the bad
// ones are refused.
func importBatch[T any](
	ctx context.Context, s *db.Store, kind string, records []T,
	store func(tx *gorm.DB, records []T) ([]batch.Result, error),
) (results []batch.Result, err error) {
	for range batchAttempts {
		err = s.WriteImport(ctx, kind, func(tx *gorm.DB) (err error) {
			results, err = store(tx, records)
			return err
		})
		if err == nil {
			return results, nil
		}
		if !isAboutRecords(err) {
			return nil, err
		}
	}
	err = s.WriteImport(ctx, kind, func(tx *gorm.DB) error {
		results = make([]batch.Result, len(records))
		for i := range records {
			err := tx.Transaction(func(tx *gorm.DB) error { // a savepoint
				result, err := store(tx, records[i:i+1])
				if err == nil {
					results[i] = result[0]
				}
				return err
			})
			switch {
			case err == nil:
			case isAboutRecords(err):
				results[i].Err = recordFault(err)
			default:
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
	return slices.Contains([]fault.Kind{fault.Conflict, fault.NotFound, fault.Invalid}, fault.KindOf(db.Translate(err)))
}

// recordFault returns the error of one record, which failed because another caller wrote at the same time.
func recordFault(err error) error {
	err = db.Translate(err)
	switch {
	case errors.Is(err, user.ErrIdentityTaken):
	case fault.Is(err, fault.Conflict):
		return fault.Wrap(fault.Conflict,
			"Another writer took the name, the key or the id at the same moment. Import the record again.", err)
	case fault.Is(err, fault.NotFound): // no row has what a foreign key names
		return fault.Wrap(fault.NotFound, errUnknownOwner.Message, err)
	}
	return err
}

// refuse sets refused for each record whose key, a unique value, would belong to another row after the batch. Record i
// gives row ids[i] the key keys[i]. current maps ids of rows to stored keys: of the batch's rows, and of rows that hold
// one of keys. Records that are refused already are ignored.
//
// Rows may swap keys. A row that keeps its key wins over rows that want it. Among those, the first record wins. A
// refused record leaves its row's old key in place, which may block another record, so the check repeats until nothing
// changes.
func refuse[K comparable](ids []string, keys []K, current map[string]K, refused []bool) {
	for changed := true; changed; {
		changed = false
		last := make(map[string]int, len(ids)) // the last record of each row decides
		for i, id := range ids {
			if !refused[i] {
				last[id] = i
			}
		}
		holders := make(map[K]string, len(ids))
		for id, key := range current {
			if i, moves := last[id]; !moves || keys[i] == key {
				holders[key] = id
			}
		}
		for i, id := range ids {
			if refused[i] || last[id] != i {
				continue
			}
			if holder, ok := holders[keys[i]]; ok && holder != id {
				refused[i], changed = true, true
				continue
			}
			holders[keys[i]] = id
		}
	}
}

// lockOwners returns which of the users exist, and keeps them from being deleted until the transaction ends.
func lockOwners(tx *gorm.DB, ids []string) (map[string]bool, error) {
	locked := tx.Clauses(clause.Locking{Strength: "KEY SHARE"})
	return idsOf(locked.Model(&model.User{}).Where("id IN ?", ids).Order("id"))
}

func upsert(tx *gorm.DB) *gorm.DB {
	return tx.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "id"}}, UpdateAll: true})
}
