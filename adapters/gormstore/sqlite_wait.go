package gormstore

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// SQLite waits for a lock that another connection or process holds by sleeping, for as long as busy_timeout
// says, and looks neither at a context nor at an interrupt meanwhile. So it is told not to wait
// (busy_timeout is 0), and the waiting is done here, between the database and database/sql, where every
// statement passes, GORM's and goose's too.
//
// Why it is there: with SQLite's own waiting, a request whose time is over kept its connection until the lock was free, and
// with four connections four such requests kept everybody else's as well. Being where every statement passes, it also reads
// the clock for an attempt (clock.go) and times it (slow_statements.go).

// sqliteConnector opens connections whose statements wait for another process's locks until their context
// ends, and for no longer than patience.
type sqliteConnector struct {
	driver.Connector
	folder   string
	patience time.Duration
	slow     *slowStatements
}

var _ driver.Connector = (*sqliteConnector)(nil)

func newSQLiteConnector(path, dsn string, patience time.Duration, slow *slowStatements) (*sqliteConnector, error) {
	connector, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	return &sqliteConnector{Connector: connector, folder: filepath.Dir(path), patience: patience, slow: slow}, nil
}

// Connect implements driver.Connector.
func (c *sqliteConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		conn, err = afterFailure(ctx, c, err, func() (driver.Conn, error) { return c.Connector.Connect(ctx) })
	}
	if err != nil {
		return nil, err
	}
	own, ok := conn.(driverConn)
	if !ok {
		_ = conn.Close()
		return nil, fmt.Errorf("the SQLite driver's %T lacks a method", conn)
	}
	return &waitingConn{driverConn: own, connector: c}, nil
}

// driverConn is what database/sql uses of a connection of the driver.
type driverConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

type waitingConn struct {
	driverConn
	connector *sqliteConnector
	inTx      bool
}

var _ driver.NamedValueChecker = (*waitingConn)(nil)

// CheckNamedValue implements driver.NamedValueChecker: a clock is read by the statement's attempts.
func (c *waitingConn) CheckNamedValue(value *driver.NamedValue) error {
	if _, ok := value.Value.(clock); ok {
		return nil
	}
	return driver.ErrSkip
}

// PrepareContext implements driver.ConnPrepareContext. The schema may have to be read for it.
func (c *waitingConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	stmt, err := c.driverConn.PrepareContext(ctx, query)
	if err != nil {
		stmt, err = afterConnFailure(ctx, c, err, func() (driver.Stmt, error) { return c.driverConn.PrepareContext(ctx, query) })
	}
	if err != nil {
		return nil, err
	}
	own, ok := stmt.(driverStmt)
	if !ok {
		_ = stmt.Close()
		return nil, fmt.Errorf("the SQLite driver's %T lacks a method", stmt)
	}
	return &waitingStmt{own, c, query}, nil
}

// ExecContext implements driver.ExecerContext.
func (c *waitingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	began := c.connector.slow.begin()
	result, err := c.driverConn.ExecContext(ctx, query, atThisMoment(args))
	if err != nil {
		result, err = afterConnFailure(ctx, c, err, func() (driver.Result, error) {
			return c.driverConn.ExecContext(ctx, query, atThisMoment(args))
		})
	}
	c.connector.slow.end(began, query, result)
	return result, err
}

// QueryContext implements driver.QueryerContext. What the statement waits for, it waits for before the first row.
func (c *waitingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	began := c.connector.slow.begin()
	rows, err := c.driverConn.QueryContext(ctx, query, atThisMoment(args))
	if err != nil {
		rows, err = afterConnFailure(ctx, c, err, func() (driver.Rows, error) {
			return c.driverConn.QueryContext(ctx, query, atThisMoment(args))
		})
	}
	c.connector.slow.end(began, query, nil)
	return rows, err
}

// BeginTx implements driver.ConnBeginTx. A transaction takes the lock that it needs here, and then never waits.
func (c *waitingConn) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	began := c.connector.slow.begin()
	tx, err := c.driverConn.BeginTx(ctx, options)
	if err != nil {
		tx, err = afterConnFailure(ctx, c, err, func() (driver.Tx, error) { return c.driverConn.BeginTx(ctx, options) })
	}
	c.connector.slow.end(began, "BEGIN", nil)
	if err != nil {
		return nil, err
	}
	c.inTx = true
	return waitingTx{tx, c}, nil
}

type waitingTx struct {
	tx   driver.Tx
	conn *waitingConn
}

// Commit implements driver.Tx.
func (t waitingTx) Commit() error {
	t.conn.inTx = false
	began := t.conn.connector.slow.begin()
	err := t.tx.Commit()
	t.conn.connector.slow.end(began, "COMMIT", nil)
	return t.conn.connector.explain(err)
}

// Rollback implements driver.Tx.
func (t waitingTx) Rollback() error {
	t.conn.inTx = false
	return t.tx.Rollback()
}

// driverStmt is what database/sql uses of a prepared statement of the driver.
type driverStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type waitingStmt struct {
	driverStmt
	conn  *waitingConn
	query string
}

// ExecContext implements driver.StmtExecContext.
func (s *waitingStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	began := s.conn.connector.slow.begin()
	result, err := s.driverStmt.ExecContext(ctx, atThisMoment(args))
	if err != nil {
		result, err = afterConnFailure(ctx, s.conn, err, func() (driver.Result, error) {
			return s.driverStmt.ExecContext(ctx, atThisMoment(args))
		})
	}
	s.conn.connector.slow.end(began, s.query, result)
	return result, err
}

// QueryContext implements driver.StmtQueryContext.
func (s *waitingStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	began := s.conn.connector.slow.begin()
	rows, err := s.driverStmt.QueryContext(ctx, atThisMoment(args))
	if err != nil {
		rows, err = afterConnFailure(ctx, s.conn, err, func() (driver.Rows, error) {
			return s.driverStmt.QueryContext(ctx, atThisMoment(args))
		})
	}
	s.conn.connector.slow.end(began, s.query, nil)
	return rows, err
}

// afterConnFailure is afterFailure for a connection. In a transaction, waiting for a lock would not help: it has the
// one that it needs, or can never have it.
func afterConnFailure[T any](ctx context.Context, c *waitingConn, err error, try func() (T, error)) (T, error) {
	if c.inTx {
		var none T
		return none, c.connector.explain(err)
	}
	return afterFailure(ctx, c.connector, err, try)
}

// Times between two attempts at a lock. SQLite's own are similar.
const (
	firstLockWait = time.Millisecond
	lastLockWait  = 16 * time.Millisecond
)

// afterFailure tries again while err says that somebody else holds a lock.
func afterFailure[T any](ctx context.Context, c *sqliteConnector, err error, try func() (T, error)) (result T, _ error) {
	var none T
	if !isBusy(err) {
		return none, c.explain(err)
	}
	enough := time.NewTimer(c.patience)
	defer enough.Stop()
	wait := firstLockWait
	next := time.NewTimer(wait)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return none, fmt.Errorf("%w, waiting for whoever holds the database file: %w", ctx.Err(), err)
		case <-enough.C:
			return none, fmt.Errorf("waited %v for whoever holds the database file: %w", c.patience, err)
		case <-next.C:
		}
		if result, err = try(); err == nil {
			return result, nil
		}
		if !isBusy(err) {
			return none, c.explain(err)
		}
		wait = min(2*wait, lastLockWait)
		next.Reset(wait)
	}
}

func isBusy(err error) bool {
	sqliteErr, ok := errors.AsType[*sqlite.Error](err)
	return ok && sqliteErr.Code()&0xff == sqlite3.SQLITE_BUSY
}

// explain adds to an error of input or output that there is no room left, if that is so. SQLite knows the system's
// error, but the driver does not tell.
func (c *sqliteConnector) explain(err error) error {
	sqliteErr, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	switch sqliteErr.Code() & 0xff {
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN:
		if probed := writeAnything(c.folder); probed != nil && diagnose(probed) == noRoom {
			return fmt.Errorf("%w: %w", err, probed)
		}
	}
	return err
}

// writeAnything fails if the file system takes no more data.
func writeAnything(folder string) error {
	file, err := os.CreateTemp(folder, ".gluepot-probe-")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) //nolint:errcheck // nothing can be done
	_, err = file.Write(make([]byte, 4096))
	return errors.Join(err, file.Close())
}
