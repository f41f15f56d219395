package connection

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sync/semaphore"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/gluepot/gluepot/domain/fault"
)

// attempts is how often a transaction is tried that ends in a deadlock.
const attempts = 5

// Read returns the database for reading.
func (s *Store) Read(ctx context.Context) *gorm.DB {
	db := s.reader.WithContext(ctx)
	if s.file.isReplaced() {
		_ = db.AddError(errFileReplaced)
	}
	return db
}

// Snapshot is Bounded in a transaction that sees one instant.
func (s *Store) Snapshot(ctx context.Context, read func(tx *gorm.DB) error, semaphores ...*semaphore.Weighted) error {
	return s.Bounded(ctx, func(db *gorm.DB) error {
		return db.Transaction(read, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	}, semaphores...)
}

// Transaction runs change in a transaction, again after a deadlock, and translates the error.
func (s *Store) Transaction(ctx context.Context, change func(tx *gorm.DB) error) error {
	return again(ctx, func() error { return s.transactOnce(ctx, change) })
}

// again retries a transaction after deadlocks, and translates the error.
func again(ctx context.Context, once func() error) error {
	for attempt := 1; ; attempt++ {
		err := once()
		if err == nil || !isDeadlock(err) || attempt == attempts || ctx.Err() != nil {
			if err = Translate(err); ctx.Err() != nil && fault.Is(err, fault.Unavailable) {
				err = unavailable(errors.Join(ctx.Err(), err)) // the driver may only report a bad connection
			}
			return err
		}
	}
}

func (s *Store) transactOnce(ctx context.Context, change func(tx *gorm.DB) error) error {
	if s.cfg.RefuseWrites {
		return errRefused
	}
	if err := s.file.check(); err != nil {
		return err
	}
	err := s.writer.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		if err := s.hooks.Before(ctx, s, tx); err != nil {
			return err
		}
		if err := change(tx); err != nil {
			return err
		}
		return s.hooks.After(ctx, s, tx)
	})
	if err != nil {
		return err
	}
	return s.file.check() // a write to a file that was replaced meanwhile is lost: do not acknowledge it
}

func isDeadlock(err error) bool {
	pgErr, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pgErr.Code == "40P01" || pgErr.Code == "40001") // deadlock_detected, serialization_failure
}

// ForUpdate makes a query lock its rows, in its order, until the transaction ends. On SQLite, where a transaction locks
// everything from its start, it does nothing (dialect_sqlite.go).
func ForUpdate(tx *gorm.DB) *gorm.DB {
	return tx.Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate})
}

// Acquire waits for a place in each semaphore, in their order.
func Acquire(ctx context.Context, semaphores ...*semaphore.Weighted) (release func(), err error) {
	for i, s := range semaphores {
		if err := s.Acquire(ctx, 1); err != nil {
			for _, held := range semaphores[:i] {
				held.Release(1)
			}
			return nil, unavailable(err)
		}
	}
	return func() {
		for _, s := range semaphores {
			s.Release(1)
		}
	}, nil
}

// WritePaste is Transaction for work on pastes.
func (s *Store) WritePaste(ctx context.Context, change func(tx *gorm.DB) error) error {
	release, err := Acquire(ctx, s.pasteWrites)
	if err != nil {
		return err
	}
	defer release()
	return s.Transaction(ctx, change)
}

// WriteAfter is WritePaste in two parts: read, which may be nil, and then write, whose statements return no rows. PostgreSQL gets all
// that write does, with the end of the transaction, in one round trip.
func (s *Store) WriteAfter(ctx context.Context, read, write func(tx *gorm.DB) error) error {
	if s.pgx == nil || s.cfg.RefuseWrites {
		return s.WritePaste(ctx, func(tx *gorm.DB) error {
			if read != nil {
				if err := read(tx); err != nil {
					return err
				}
			}
			return write(tx)
		})
	}
	release, err := Acquire(ctx, s.pasteWrites)
	if err != nil {
		return err
	}
	defer release()
	return again(ctx, func() error {
		if read != nil {
			return s.readThenWrite(ctx, read, write)
		}
		var all Pipeline // a new one for each attempt: a batch remembers the statements prepared on its connection
		s.hooks.BeforeTogether(ctx, &all)
		if err := s.queue(ctx, &all, write); err != nil {
			return err
		}
		return all.run(ctx, s.pgx, s.writer.Logger)
	})
}

func (s *Store) readThenWrite(ctx context.Context, read, write func(tx *gorm.DB) error) (err error) {
	conn, err := s.pools[0].Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // the transaction has ended
	var first, last, undo Pipeline
	undo.Batch.Queue("ROLLBACK")
	defer func() {
		if err != nil {
			_ = undo.send(ctx, conn, s.writer.Logger) // if that also fails, the pool closes the connection
		}
	}()
	first.Batch.Queue("BEGIN")
	s.hooks.BeforeTogether(ctx, &first)
	if err := first.send(ctx, conn, s.writer.Logger); err != nil {
		return err
	}
	if err := read(s.through(ctx, conn)); err != nil {
		return err
	}
	if err := s.queue(ctx, &last, write); err != nil {
		return err
	}
	last.Batch.Queue("COMMIT")
	return last.send(ctx, conn, s.writer.Logger)
}

// queue adds the statements of write and of the hook After to a pipeline.
func (s *Store) queue(ctx context.Context, statements *Pipeline, write func(tx *gorm.DB) error) error {
	tx := s.through(ctx, statements)
	if err := write(tx); err != nil {
		return err
	}
	return s.hooks.After(ctx, s, tx)
}

// through returns a GORM session on a pool.
func (s *Store) through(ctx context.Context, pool gorm.ConnPool) *gorm.DB {
	tx := s.writer.Session(&gorm.Session{NewDB: true, Context: ctx})
	tx.Statement.ConnPool = pool
	return tx
}

// List runs a slow read of pastes.
func (s *Store) List(ctx context.Context, read func(db *gorm.DB) error) error {
	return s.Bounded(ctx, read, s.Slow, s.Pastes)
}

// Bounded runs a read that holds the semaphores, and translates the error.
func (s *Store) Bounded(ctx context.Context, read func(db *gorm.DB) error, semaphores ...*semaphore.Weighted) error {
	release, err := Acquire(ctx, semaphores...)
	if err != nil {
		return err
	}
	defer release()
	return Translate(read(s.Read(ctx)))
}
