package gormstore

import (
	"context"
	"errors"
	"maps"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/gluepot/gluepot/domain/batch"
	"github.com/gluepot/gluepot/domain/fault"
)

var errUnknownOwner = fault.New(fault.NotFound, "The owner is not a user here. Import the users first.")

// insertRows is how many rows one INSERT has: SQLite takes 32766 parameters, PostgreSQL 65535.
const insertRows = 1000

// Imports of one kind take turns on PostgreSQL, one transaction each: two that store the same new records
// would wait for each other, because a record has several unique values. The numbers are arbitrary, and next to sweepTryLock's.
const (
	usersImport int64 = 7163384644223837031 + iota
	tokensImport
	pastesImport
)

// batchAttempts is how often a batch is stored as a whole before its records are stored one by one.
const batchAttempts = 3

// importBatch stores records in one transaction with store, which fails as a whole or not at all.
//
// What the rows in the database rule out, store refuses by itself. Where it fails nevertheless, because somebody
// else has written meanwhile, it sees what the other has written when it is called again. If that does not help,
// the records are stored one by one, so that none but those that cannot be stored are refused. Only this takes savepoints:
// SQLite copies every page that changes after one.
func importBatch[T any](
	ctx context.Context, s *Store, kind int64, records []T, store func(tx *gorm.DB, records []T) ([]batch.Result, error),
) (results []batch.Result, err error) {
	for range batchAttempts {
		err = s.importing(ctx, kind, func(tx *gorm.DB) (err error) {
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
	err = s.importing(ctx, kind, func(tx *gorm.DB) error {
		results = make([]batch.Result, len(records))
		for i := range records {
			alone, err := undoable(tx, records[i:i+1], store)
			switch {
			case err == nil:
				results[i] = alone[0]
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

// importing runs change in a transaction beside which no other imports the same kind.
func (s *Store) importing(ctx context.Context, kind int64, change func(tx *gorm.DB) error) error {
	return s.connTransaction(ctx, func(tx *gorm.DB) error {
		if lock := s.queries.importLock; lock != "" {
			if err := tx.Exec(lock, kind).Error; err != nil {
				return err
			}
		}
		return change(tx)
	})
}

// undoable calls store and, if it fails, undoes what it did, but not the transaction.
func undoable[T any](tx *gorm.DB, records []T, store func(*gorm.DB, []T) ([]batch.Result, error)) ([]batch.Result, error) {
	if err := tx.Exec("SAVEPOINT batch").Error; err != nil {
		return nil, err
	}
	results, err := store(tx, records)
	if err != nil {
		if undone := tx.Exec("ROLLBACK TO SAVEPOINT batch").Error; undone != nil {
			return nil, errors.Join(err, undone)
		}
		return nil, err
	}
	return results, tx.Exec("RELEASE SAVEPOINT batch").Error
}

// isAboutRecords reports whether err is about what was to be stored, and not about the database.
func isAboutRecords(err error) bool {
	switch fault.KindOf(translate(err)) {
	case fault.Conflict, fault.NotFound, fault.Invalid:
		return true
	}
	return false
}

// recordFault says of one record why it could not be stored although nothing seemed to be in its way.
func recordFault(err error) error {
	switch err = translate(err); fault.KindOf(err) {
	case fault.Conflict:
		return fault.Wrap(fault.Conflict, "Another writer took the name, the key or the id at the same moment. Import the record again.",
			err)
	case fault.NotFound:
		return fault.Wrap(fault.NotFound, errUnknownOwner.Message, err)
	}
	return err
}

// settle finds out which records of a batch cannot be stored because of their key, a value that only one row
// may have: record i gives the row ids[i] the key keys[i]. current has the keys of the batch's rows that are
// there, and the rows that hold any of keys. It sets refused for each record whose key another row has in the end;
// those that are refused beforehand count for nothing.
//
// Keys may move in any way, since the order in which rows give them up and get them does not matter. A row
// that has a key and keeps it goes before those that want it, and among these the first record. A refused record
// leaves its row what it had, which may be in the way of others: so it is done again until nothing changes.
func settle[K comparable](ids []string, keys []K, current map[string]K, refused []bool) {
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

// leaving returns which of the rows that get new keys hold one that another of them gets: they have to give it up first.
func leaving[K comparable](current, wanted map[string]K) []string {
	takers := make(map[K]string, len(wanted))
	for id, key := range wanted {
		takers[key] = id
	}
	var ids []string
	for id := range wanted {
		key, has := current[id]
		if taker, taken := takers[key]; has && taken && taker != id {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// lockOwners returns which of the users exist, and will until the transaction ends.
func lockOwners(tx *gorm.DB, ids []string) (map[string]bool, error) {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	exists := make(map[string]bool, len(ids))
	if len(ids) == 0 {
		return exists, nil
	}
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

// upsertInOrder stores rows by their ids, in the order of these.
func upsertInOrder[T any](tx *gorm.DB, rows map[string]T) error {
	if len(rows) == 0 {
		return nil
	}
	sorted := make([]T, 0, len(rows))
	for _, id := range slices.Sorted(maps.Keys(rows)) {
		sorted = append(sorted, rows[id])
	}
	return upsert(tx).CreateInBatches(sorted, insertRows).Error
}

func upsert(tx *gorm.DB) *gorm.DB {
	return tx.Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "id"}}, UpdateAll: true})
}
