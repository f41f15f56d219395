package gormstore

import (
	"context"
	"errors"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/gluepot/gluepot/adapters/gormstore/connection"
	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/user"
)

var errUnknownOwner = fault.New(fault.NotFound, "The owner is not a user here. Import the users first.")

// The kinds of imports.
const (
	usersImport  = "gluepot: import of users"
	tokensImport = "gluepot: import of tokens"
	pastesImport = "gluepot: import of pastes"
)

// batchAttempts is how often a batch is stored as a whole before its records are stored one by one.
const batchAttempts = 3

// importBatch stores records in one transaction with store, which fails as a whole or not at all. Imports of one kind take turns: two
// that store the same new records would wait for each other, because a record has several unique values.
//
// What the rows in the database rule out, store refuses by itself. Where it fails nevertheless, because another caller
// has written meanwhile, it sees what that has written when it is called again. If that does not help,
// the records are stored one by one, so that only those that cannot be stored are refused.
func importBatch[T any](
	ctx context.Context, s *connection.Store, kind string, records []T, store func(tx *gorm.DB, records []T) ([]batch.Result, error),
) (results []batch.Result, err error) {
	release, err := connection.Acquire(ctx, s.Slow)
	if err != nil {
		return nil, err
	}
	defer release()
	importing := func(change func(tx *gorm.DB) error) error {
		return s.WritePaste(ctx, func(tx *gorm.DB) error {
			if s.Dialect.LockImport != "" {
				if err := tx.Exec(s.Dialect.LockImport, kind).Error; err != nil {
					return err
				}
			}
			return change(tx)
		})
	}
	for range batchAttempts {
		err = importing(func(tx *gorm.DB) (err error) {
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
	err = importing(func(tx *gorm.DB) error {
		results = make([]batch.Result, len(records))
		for i := range records {
			err := tx.Transaction(func(tx *gorm.DB) error { // a savepoint
				alone, err := store(tx, records[i:i+1])
				if err == nil {
					results[i] = alone[0]
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
	switch fault.KindOf(connection.Translate(err)) {
	case fault.Conflict, fault.NotFound, fault.Invalid:
		return true
	}
	return false
}

// recordFault says of one record why it could not be stored although nothing seemed to be in its way.
func recordFault(err error) error {
	err = connection.Translate(err)
	var public *fault.Error
	switch {
	case errors.Is(err, user.ErrServiceTaken):
	case fault.Is(err, fault.Conflict):
		return fault.Wrap(fault.Conflict, "Another writer took the name, the key or the id at the same moment. Import the record again.",
			err)
	case fault.Is(err, fault.NotFound) && errors.As(err, &public) && public.Message == connection.MessageNotFound:
		return fault.Wrap(fault.NotFound, errUnknownOwner.Message, err)
	}
	return err
}

// refuse finds out which records of a batch cannot be stored because of their key, a value that only one row
// may have: record i gives the row ids[i] the key keys[i]. current has the keys of the batch's rows that are
// there, and the rows that hold any of keys. It sets refused for each record whose key another row has in the end;
// those that are refused beforehand count for nothing.
//
// Keys may move in any way, since the order in which rows give them up and get them does not matter. A row
// that has a key and keeps it goes before those that want it, and among these the first record. A refused record
// leaves its row what it had, which may be in the way of others: so it is done again until nothing changes.
func refuse[K comparable](ids []string, keys []K, current map[string]K, refused []bool) {
	for again := true; again; {
		again = false
		last := make(map[string]int, len(ids)) // what decides about a row
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
			if holder, held := holders[keys[i]]; held && holder != id {
				refused[i], again = true, true
				continue
			}
			holders[keys[i]] = id
		}
	}
}

// lockOwners returns which of the users exist, and will until the transaction ends.
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
