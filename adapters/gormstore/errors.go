package gormstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/gorm"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
)

const (
	messageUnavailable = "The database did not answer in time. Try again in a moment."
	messageNoRoom      = "The database has no room left on its disk. Make some, then try again."
	messageCrowded     = "The database takes no more connections. Try again in a moment."
	messageStarting    = "The database is starting or stopping. Try again in a moment."
	messageOutdated    = "The database lacks migrations. Run 'gluepot migrate up'."
	messageDamaged     = "The database file is damaged."
	messageConflict    = "It exists already."
	messageNotFound    = "There is no such thing."
	messageInvalid     = "The database does not accept this value."
)

var errNotFound = fault.New(fault.NotFound, messageNotFound)

// translate turns an error of GORM, database/sql or a driver into a *fault.Error. nil stays nil, and
// so does a *fault.Error.
func translate(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	if errors.Is(err, sql.ErrNoRows) || errors.Is(err, gorm.ErrRecordNotFound) {
		return fault.Wrap(fault.NotFound, messageNotFound, err)
	}
	if isNoRoom(err) {
		return fault.Wrap(fault.Unavailable, messageNoRoom, err)
	}
	if isMissingTable(err) {
		return fault.Wrap(fault.Unavailable, messageOutdated, err)
	}
	if isDamaged(err) {
		return fault.Wrap(fault.Unavailable, messageDamaged, err)
	}
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); ok {
		return translatePostgres(pgErr, err)
	}
	if sqliteErr, ok := errors.AsType[*sqlite.Error](err); ok {
		return translateSQLite(sqliteErr, err)
	}
	if isConnectionError(err) {
		return unavailable(err)
	}
	return fault.Wrap(fault.Internal, fault.MessageOf(nil), err)
}

func idTaken(err error) error {
	return fault.Wrap(fault.Conflict, messageConflict, fmt.Errorf("%w: %w", ident.ErrTaken, err))
}

func unavailable(err error) error { return fault.Wrap(fault.Unavailable, messageUnavailable, err) }

// isNoRoom reports whether a disk is full, or its owner's share of it.
func isNoRoom(err error) bool {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return true
	}
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pgErr.Code == "53100" // disk_full
	}
	sqliteErr, ok := errors.AsType[*sqlite.Error](err)
	return ok && sqliteErr.Code()&0xff == sqlite3.SQLITE_FULL
}

// isMissingTable reports whether a statement asked for a table or column that there is not: the schema is an
// older one, or gone.
func isMissingTable(err error) bool {
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pgErr.Code == "42P01" || pgErr.Code == "42703" // undefined_table, undefined_column
	}
	sqliteErr, ok := errors.AsType[*sqlite.Error](err)
	return ok && sqliteErr.Code() == sqlite3.SQLITE_ERROR &&
		(strings.Contains(sqliteErr.Error(), "no such table") || strings.Contains(sqliteErr.Error(), "no such column"))
}

// isDamaged reports whether SQLite found its file to be broken, or another thing than a database.
func isDamaged(err error) bool {
	sqliteErr, ok := errors.AsType[*sqlite.Error](err)
	return ok && (sqliteErr.Code()&0xff == sqlite3.SQLITE_CORRUPT || sqliteErr.Code()&0xff == sqlite3.SQLITE_NOTADB)
}

// isForbidden reports whether SQLite cannot open its file, or not for writing: it belongs to somebody else, say, or is a folder.
func isForbidden(err error) bool {
	sqliteErr, ok := errors.AsType[*sqlite.Error](err)
	return ok && (sqliteErr.Code()&0xff == sqlite3.SQLITE_CANTOPEN || sqliteErr.Code()&0xff == sqlite3.SQLITE_READONLY)
}

func isConnectionError(err error) bool {
	for _, target := range []error{
		context.Canceled, context.DeadlineExceeded,
		driver.ErrBadConn, sql.ErrConnDone, sql.ErrTxDone /* its time ended before the commit */, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed,
	} {
		if errors.Is(err, target) {
			return true
		}
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	// Neither package exports these two.
	return strings.Contains(err.Error(), "sql: database is closed") || strings.Contains(err.Error(), "conn closed")
}

// translatePostgres goes by SQLSTATE (PostgreSQL documentation, appendix A).
func translatePostgres(pgErr *pgconn.PgError, err error) error {
	switch pgErr.Code {
	case "23505": // unique_violation
		if strings.HasSuffix(pgErr.ConstraintName, "_pkey") {
			return idTaken(err)
		}
		return fault.Wrap(fault.Conflict, messageConflict, err)
	case "23503": // foreign_key_violation: what the row belongs to is not there
		return fault.Wrap(fault.NotFound, messageNotFound, err)
	case "22021", "22P05", "23514", "22001": // bytes that are no text, a failed check, too long
		return fault.Wrap(fault.Invalid, messageInvalid, err)
	case "53300": // too_many_connections
		return fault.Wrap(fault.Unavailable, messageCrowded, err)
	case "57P01", "57P02", "57P03": // admin_shutdown, crash_shutdown, cannot_connect_now
		return fault.Wrap(fault.Unavailable, messageStarting, err)
	case "25006", // read_only_sql_transaction: a former primary
		"40001", "40P01", // serialization_failure, deadlock_detected
		"57014", // query_canceled: a deadline
		"55P03": // lock_not_available
		return unavailable(err)
	}
	switch pgErr.Code[:min(2, len(pgErr.Code))] {
	case "08", "28", "3D", "53", "57", "58": // connection, authorization, no such database, resources, operator, system
		return unavailable(err)
	}
	return fault.Wrap(fault.Internal, fault.MessageOf(nil), err)
}

// translateSQLite goes by extended result code (https://www.sqlite.org/rescode.html).
func translateSQLite(sqliteErr *sqlite.Error, err error) error {
	switch sqliteErr.Code() {
	case sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
		return idTaken(err)
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE:
		return fault.Wrap(fault.Conflict, messageConflict, err)
	case sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
		return fault.Wrap(fault.NotFound, messageNotFound, err)
	case sqlite3.SQLITE_CONSTRAINT_CHECK, sqlite3.SQLITE_CONSTRAINT_NOTNULL, sqlite3.SQLITE_TOOBIG:
		return fault.Wrap(fault.Invalid, messageInvalid, err)
	}
	switch sqliteErr.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_CANTOPEN,
		sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_NOMEM:
		return unavailable(err)
	}
	return fault.Wrap(fault.Internal, fault.MessageOf(nil), err)
}

// one turns a change that found nothing to change into the error for that.
func one(result *gorm.DB) error {
	if result.Error == nil && result.RowsAffected == 0 {
		return gorm.ErrRecordNotFound
	}
	return result.Error
}
