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
// the clock for an attempt (clock.go), times it (slow_statements.go) and tells who traces it (traced_statements.go).

// sqliteConnector opens connections whose statements wait for another process's locks until their context
// ends, and for no longer than patience.
type sqliteConnector struct {
	driver.Connector
	folder   string
	patience time.Duration
	slow     *slowStatements
	traced   *tracedSQLite
}

var _ driver.Connector = (*sqliteConnector)(nil)

func newSQLiteConnector(path, dsn string, cfg Config) (*sqliteConnector, error) {
	connector, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	return &sqliteConnector{
		Connector: connector, folder: filepath.Dir(path), patience: cfg.ConnectTimeout,
		slow: newSlowStatements(cfg), traced: newTracedSQLite(cfg),
	}, nil
}

// begin and end stand around each statement: see slowStatements and StatementTracer.
func (c *sqliteConnector) begin(ctx context.Context, query string) (context.Context, time.Time) {
	return c.traced.begin(ctx, query), c.slow.begin()
}

func (c *sqliteConnector) end(ctx context.Context, began time.Time, query string, result driver.Result, err error) {
	c.traced.end(ctx, err)
	c.slow.end(began, query, result)
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
	ctx, began := c.connector.begin(ctx, query)
	result, err := c.driverConn.ExecContext(ctx, query, atThisMoment(args))
	if err != nil {
		result, err = afterConnFailure(ctx, c, err, func() (driver.Result, error) {
			return c.driverConn.ExecContext(ctx, query, atThisMoment(args))
		})
	}
	c.connector.end(ctx, began, query, result, err)
	return result, err
}

// QueryContext implements driver.QueryerContext. What the statement waits for, it waits for before the first row.
func (c *waitingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	ctx, began := c.connector.begin(ctx, query)
	rows, err := c.driverConn.QueryContext(ctx, query, atThisMoment(args))
	if err != nil {
		rows, err = afterConnFailure(ctx, c, err, func() (driver.Rows, error) {
			return c.driverConn.QueryContext(ctx, query, atThisMoment(args))
		})
	}
	c.connector.end(ctx, began, query, nil, err)
	return rows, err
}

// BeginTx implements driver.ConnBeginTx. A transaction takes the lock that it needs here, and then never waits.
func (c *waitingConn) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	within, began := c.connector.begin(ctx, "BEGIN")
	tx, err := c.driverConn.BeginTx(within, options)
	if err != nil {
		tx, err = afterConnFailure(within, c, err, func() (driver.Tx, error) { return c.driverConn.BeginTx(within, options) })
	}
	c.connector.end(within, began, "BEGIN", nil, err)
	if err != nil {
		return nil, err
	}
	c.inTx = true
	return waitingTx{tx, c, ctx}, nil
}

type waitingTx struct {
	tx   driver.Tx
	conn *waitingConn
	ctx  context.Context //nolint:containedctx // Commit and Rollback get none, and are part of the same
}

// Commit implements driver.Tx.
func (t waitingTx) Commit() error {
	t.conn.inTx = false
	ctx, began := t.conn.connector.begin(t.ctx, "COMMIT")
	err := t.tx.Commit()
	t.conn.connector.end(ctx, began, "COMMIT", nil, err)
	return t.conn.connector.explain(err)
}

// Rollback implements driver.Tx.
func (t waitingTx) Rollback() error {
	t.conn.inTx = false
	ctx, began := t.conn.connector.begin(t.ctx, "ROLLBACK")
	err := t.tx.Rollback()
	t.conn.connector.end(ctx, began, "ROLLBACK", nil, err)
	return err
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
	ctx, began := s.conn.connector.begin(ctx, s.query)
	result, err := s.driverStmt.ExecContext(ctx, atThisMoment(args))
	if err != nil {
		result, err = afterConnFailure(ctx, s.conn, err, func() (driver.Result, error) {
			return s.driverStmt.ExecContext(ctx, atThisMoment(args))
		})
	}
	s.conn.connector.end(ctx, began, s.query, result, err)
	return result, err
}

// QueryContext implements driver.StmtQueryContext.
func (s *waitingStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	ctx, began := s.conn.connector.begin(ctx, s.query)
	rows, err := s.driverStmt.QueryContext(ctx, atThisMoment(args))
	if err != nil {
		rows, err = afterConnFailure(ctx, s.conn, err, func() (driver.Rows, error) {
			return s.driverStmt.QueryContext(ctx, atThisMoment(args))
		})
	}
	s.conn.connector.end(ctx, began, s.query, nil, err)
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
