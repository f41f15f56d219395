package db

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"golang.org/x/sync/semaphore"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"
	"gorm.io/gorm/logger"

	"github.com/gluepot/gluepot/adapters/gormstore/model"
	"github.com/gluepot/gluepot/domain/auditlog"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/user"
)

// attempts is how often a transaction that ends in a deadlock is tried.
const attempts = 5

// Read returns the database for reading.
func (s *Store) Read(ctx context.Context) *gorm.DB {
	db := s.reader.WithContext(ctx)
	if err := s.file.Replaced(); err != nil {
		_ = db.AddError(err)
	}
	return db
}

// Snapshot is ReadLimited in a transaction that sees one instant.
func (s *Store) Snapshot(ctx context.Context, read func(tx *gorm.DB) error, semaphores ...*semaphore.Weighted) error {
	return s.ReadLimited(ctx, func(db *gorm.DB) error {
		return db.Transaction(read, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	}, semaphores...)
}

// transaction begins a transaction, runs change in it, and ends it.
type transaction func(ctx context.Context, change func(tx *gorm.DB) error) error

// Transaction runs change in a transaction, again after a deadlock, and translates the error.
func (s *Store) Transaction(ctx context.Context, change func(tx *gorm.DB) error) error {
	return s.write(ctx, s.writeSeparately, s.unlessCopying(change))
}

// WriteCopy is Transaction for a copy, which alone writes to its target.
func (s *Store) WriteCopy(ctx context.Context, change func(tx *gorm.DB) error) error {
	return s.write(ctx, s.writeSeparately, change)
}

// WritePaste is Transaction for work on pastes.
func (s *Store) WritePaste(ctx context.Context, change func(tx *gorm.DB) error) error {
	return s.write(ctx, s.writeSeparately, s.unlessCopying(change), s.pasteWrites)
}

// WriteTogether is WritePaste for a change that does not ask how many rows were affected. On PostgreSQL, statements
// that return no rows are sent with the next one that does, or with the end of the transaction.
func (s *Store) WriteTogether(ctx context.Context, change func(tx *gorm.DB) error) error {
	return s.write(ctx, s.together, s.unlessCopying(change), s.pasteWrites)
}

// WriteImport is WritePaste for a part of an import. Imports of one kind take turns.
func (s *Store) WriteImport(ctx context.Context, kind string, change func(tx *gorm.DB) error) error {
	return s.write(ctx, s.writeSeparately, s.unlessCopying(func(tx *gorm.DB) error {
		if err := tx.Exec(s.dialect.lockImport, kind).Error; err != nil {
			return err
		}
		return change(tx)
	}), s.Slow, s.pasteWrites)
}

func (s *Store) write(
	ctx context.Context, begin transaction, change func(tx *gorm.DB) error, semaphores ...*semaphore.Weighted,
) error {
	if s.cfg.RefuseWrites {
		return errReadOnly
	}
	release, err := acquire(ctx, semaphores...)
	if err != nil {
		return err
	}
	defer release()
	for attempt := 1; ; attempt++ {
		if err := s.file.Check(); err != nil {
			return err
		}
		err := begin(ctx, change)
		switch {
		case err == nil:
			return s.file.Check() // if the file has been replaced, the write is lost: do not acknowledge it
		case isDeadlock(err) && attempt < attempts && ctx.Err() == nil:
			continue
		}
		if err = Translate(err); ctx.Err() != nil && fault.Is(err, fault.Unavailable) {
			err = unavailable(errors.Join(ctx.Err(), err)) // the driver may only report a bad connection
		}
		return err
	}
}

// unlessCopying makes a change fail while the database is the target of a copy that has not ended, because the next
// copy would delete the change. The change comes first, so that it holds its locks on tables: a copy that begins later
// waits for them (LockTables), and one that began earlier is seen here. As in RefuseBlocked, the statement can stop
// others only by failing.
func (s *Store) unlessCopying(change func(tx *gorm.DB) error) func(tx *gorm.DB) error {
	return func(tx *gorm.DB) error {
		if err := change(tx); err != nil {
			return err
		}
		return tx.Exec(s.dialect.failWhileCopying).Error
	}
}

// writeSeparately runs a transaction that sends each statement by itself.
func (s *Store) writeSeparately(ctx context.Context, change func(tx *gorm.DB) error) error {
	return s.writer.WithContext(ctx).Transaction(change, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
}

// RefuseBlocked makes a change fail with moderation.ErrBlocked when it comes from an address in a blocked network. A
// statement can stop the statements that are sent with it only by failing. So RefuseBlocked copies the block of the
// client, if there is one, without its network, and the table refuses that.
func (s *Store) RefuseBlocked(from netip.Addr, change func(tx *gorm.DB) error) func(tx *gorm.DB) error {
	networks := moderation.NetworksOf(from)
	if len(networks) == 0 {
		return change
	}
	return func(tx *gorm.DB) error {
		err := tx.Exec(`INSERT INTO blocks (network, created_at, reason) SELECT NULL, created_at, reason FROM blocks
			WHERE network IN ? AND (expires_at IS NULL OR expires_at > ?)`, networks, s.Now()).Error
		if err != nil {
			return err
		}
		return change(tx)
	}
}

// RefuseHidden makes a transaction that has stored a paste of a user fail with token.ErrSuspended if the user's pastes
// are hidden. It comes after the paste, whose reference to the user makes a suspension wait: so either it is seen here,
// or it hides the paste, too. As in RefuseBlocked, the statement can stop others only by failing.
func RefuseHidden(tx *gorm.DB, owner user.ID) error {
	return tx.Exec("UPDATE users SET username = NULL WHERE id = ? AND pastes_hidden", string(owner)).Error
}

// LockInstallation makes transactions take turns: those that decide who the first administrator is, and those of
// administrators. It comes before all other locks.
func LockInstallation(tx *gorm.DB) error {
	return ForUpdate(tx).Take(&model.Installation{}).Error
}

// lockAdministrator fails with auditlog.ErrAdministrator unless the user of that id is an active administrator.
// Administrators take turns, so that of two who suspend each other the second is refused. A turn that has begun its
// transaction waits for no lock longer than lockTimeout: other nodes wait for it.
func (s *Store) lockAdministrator(tx *gorm.DB, administrator string) error {
	if s.pgx != nil {
		if err := tx.Exec(fmt.Sprint("SET LOCAL lock_timeout = ", lockTimeout.Milliseconds())).Error; err != nil {
			return err
		}
	}
	if err := LockInstallation(tx); err != nil {
		return err
	}
	return CheckAdministrator(tx, administrator)
}

// lockTimeout is how long an act of an administrator waits for its turn in this process, and then for each lock.
const lockTimeout = 2 * time.Second

// CheckAdministrator fails with auditlog.ErrAdministrator unless the user of that id is an active administrator, who
// remains one until the transaction ends.
func CheckAdministrator(tx *gorm.DB, administrator string) error {
	var ids []string
	query := tx.Model(&model.User{}).Where("id = ? AND admin AND NOT suspended", administrator)
	err := ForShare(query).Pluck("id", &ids).Error
	if err == nil && len(ids) == 0 {
		err = auditlog.ErrAdministrator
	}
	return err
}

// Record makes a change with write, which is Transaction, WritePaste or WriteTogether, and adds its entry to the audit
// log, unless it is the zero Entry. It fails with auditlog.ErrAdministrator when the entry's administrator no longer is
// one. Administrators who wait for their turn wait here, without a connection.
func (s *Store) Record(
	ctx context.Context, entry auditlog.Entry, write func(context.Context, func(tx *gorm.DB) error) error,
	change func(tx *gorm.DB) error,
) error {
	if entry == (auditlog.Entry{}) {
		return write(ctx, change)
	}
	if entry.Administrator != "" {
		wait, cancel := context.WithTimeout(ctx, lockTimeout)
		release, err := acquire(wait, s.turns)
		cancel()
		if err != nil {
			return err
		}
		defer release()
	}
	return write(ctx, func(tx *gorm.DB) error {
		if entry.Administrator != "" {
			if err := s.lockAdministrator(tx, entry.Administrator); err != nil {
				return err
			}
		}
		if err := change(tx); err != nil {
			return err
		}
		return tx.Create(&model.AuditEntry{
			ID: entry.ID, At: model.Instant(s.Clock()), Actor: entry.Actor, Act: entry.Act, Target: entry.Target,
			Reason: entry.Reason,
		}).Error
	})
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

// ForShare is ForUpdate with a lock that several transactions may hold.
func ForShare(tx *gorm.DB) *gorm.DB {
	return tx.Clauses(clause.Locking{Strength: clause.LockingStrengthShare})
}

// acquire acquires each semaphore, in their order.
func acquire(ctx context.Context, semaphores ...*semaphore.Weighted) (release func(), err error) {
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

// List runs a slow read of pastes.
func (s *Store) List(ctx context.Context, read func(db *gorm.DB) error) error {
	return s.ReadLimited(ctx, read, s.Slow, s.Pastes)
}

// ReadLimited runs a read that holds the semaphores, and translates the error.
func (s *Store) ReadLimited(
	ctx context.Context, read func(db *gorm.DB) error, semaphores ...*semaphore.Weighted,
) error {
	release, err := acquire(ctx, semaphores...)
	if err != nil {
		return err
	}
	defer release()
	return Translate(read(s.Read(ctx)))
}

// pipelined runs a transaction on a pipeline.
func (s *Store) pipelined(ctx context.Context, change func(tx *gorm.DB) error) error {
	conn, err := s.pools[0].Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // the transaction has ended
	p := &pipeline{Conn: conn, log: s.writer.Logger}
	tx := s.writer.Session(&gorm.Session{NewDB: true, Context: ctx})
	tx.Statement.ConnPool = p
	p.batch.Queue("BEGIN ISOLATION LEVEL READ COMMITTED")
	if err = change(tx); err == nil {
		p.batch.Queue("COMMIT")
		err = p.flush(ctx)
	}
	if err = cmp.Or(p.err, err); err != nil && p.started {
		_, _ = conn.ExecContext(ctx, "ROLLBACK") // if that also fails, the pool closes the connection
	}
	return err
}

// pipeline is a gorm.ConnPool that saves round trips to PostgreSQL. It sends statements that return no rows with the
// next one that does, or at the end.
type pipeline struct {
	*sql.Conn

	log     logger.Interface
	batch   pgx.Batch
	started bool  // the first batch was sent
	err     error // of the first batch that failed; nothing is sent after it, because the transaction may have ended
}

// ExecContext implements gorm.ConnPool.
func (p *pipeline) ExecContext(_ context.Context, query string, args ...any) (sql.Result, error) {
	p.batch.Queue(query, args...)
	return driver.RowsAffected(0), nil
}

// QueryContext implements gorm.ConnPool.
func (p *pipeline) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := p.flush(ctx); err != nil {
		return nil, err
	}
	return p.Conn.QueryContext(ctx, query, args...)
}

// QueryRowContext implements gorm.ConnPool.
func (p *pipeline) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if p.flush(ctx) != nil {
		canceled, cancel := context.WithCancel(ctx)
		cancel() // only database/sql can make a Row with an error
		ctx = canceled
	}
	return p.Conn.QueryRowContext(ctx, query, args...)
}

// flush sends the queued statements. The log sees them as one.
func (p *pipeline) flush(ctx context.Context) error {
	if p.err != nil || p.batch.Len() == 0 {
		return p.err
	}
	batch, began := p.batch, time.Now()
	p.started = true
	p.batch = pgx.Batch{} // the old one remembers the statements prepared for it
	err := p.Raw(func(conn any) error {
		//nolint:forcetypeassert // openPostgres makes no other
		return conn.(*stdlib.Conn).Conn().SendBatch(ctx, &batch).Close()
	})
	p.log.Trace(ctx, began, func() (string, int64) {
		var all []string
		for _, queued := range batch.QueuedQueries {
			all = append(all, queued.SQL)
		}
		return strings.Join(all, "; "), -1
	}, err)
	p.err = err
	return err
}
