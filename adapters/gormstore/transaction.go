package gormstore

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// sacrifices is how often something is begun anew that PostgreSQL has undone in favour of others.
const sacrifices = 5

// retried runs what is complete or undone when it returns, and again when PostgreSQL has undone it because
// it and others waited for each other: the others go on, so that the next time it waits for them in a
// queue. It translates the error.
func retried(ctx context.Context, run func() error) error {
	for attempt := 1; ; attempt++ {
		err := run()
		if err == nil || !isSacrifice(err) || attempt == sacrifices || ctx.Err() != nil {
			return translate(err)
		}
	}
}

func isSacrifice(err error) bool {
	pgErr, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pgErr.Code == "40P01" || pgErr.Code == "40001") // deadlock_detected, serialization_failure
}

// transaction runs change in a transaction, possibly more than once, and translates the error.
func (s *Store) transaction(ctx context.Context, change func(tx *gorm.DB) error) error {
	return retried(ctx, func() error { return s.gorm.WithContext(ctx).Transaction(change) })
}

// forUpdate makes a query lock the rows it reads, in its order, until the transaction ends. SQLite, where
// a transaction has locked everything from its start, leaves it out (dialect_sqlite.go).
func forUpdate(tx *gorm.DB) *gorm.DB {
	return tx.Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate})
}
