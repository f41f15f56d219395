package gormstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
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

// connTransaction is a transaction whose connection postgresConn knows.
func (s *Store) connTransaction(ctx context.Context, change func(tx *gorm.DB) error) error {
	return retried(ctx, func() error {
		db := s.gorm.WithContext(ctx)
		db.Statement.ConnPool = connPool{gormPool{s.sql}}
		return db.Transaction(change)
	})
}

// connPool is a pool whose transactions are connTx.
type connPool struct{ gormPool }

// connTx is a transaction and the connection that it has taken.
type connTx struct {
	*poolTx

	conn *sql.Conn
}

// BeginTx implements gorm.ConnPoolBeginner.
func (p connPool) BeginTx(ctx context.Context, options *sql.TxOptions) (gorm.ConnPool, error) {
	leave, err := enter(ctx, p.writes, p.bulk)
	if err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		tx, conn, err := beginOn(ctx, p.DB, options)
		if err == nil {
			return &connTx{&poolTx{tx, func() {
				_ = conn.Close() // it goes back to the pool, which looks whether it is alive
				leave()
			}}, conn}, nil
		}
		if !errors.Is(err, driver.ErrBadConn) || attempt == beginAttempts {
			leave()
			return nil, err
		}
	}
}

// beginAttempts is how often database/sql itself tries to begin on connections that turn out to be lost.
const beginAttempts = 3

func beginOn(ctx context.Context, db *sql.DB, options *sql.TxOptions) (*sql.Tx, *sql.Conn, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, nil, err
	}
	tx, err := conn.BeginTx(ctx, options)
	if err != nil {
		_ = conn.Close()
		return nil, nil, err
	}
	return tx, conn, nil
}

// postgresConn lends use the connection of a connTransaction as pgx knows it. When the context of the transaction ends,
// database/sql undoes it as soon as the connection is free, and what came after that would be outside of it.
func postgresConn(tx *gorm.DB, use func(context.Context, *pgx.Conn) error) error {
	ctx := tx.Statement.Context
	return tx.Statement.ConnPool.(*connTx).conn.Raw(func(conn any) error { //nolint:forcetypeassert // see connTransaction
		if err := ctx.Err(); err != nil {
			return err
		}
		return use(ctx, conn.(*stdlib.Conn).Conn()) //nolint:forcetypeassert // the pool was opened with pgx's driver
	})
}

// forUpdate makes a query lock the rows it reads, in its order, until the transaction ends. SQLite, where
// a transaction has locked everything from its start, leaves it out (dialect_sqlite.go).
func forUpdate(tx *gorm.DB) *gorm.DB {
	return tx.Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate})
}
