package connection

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
	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/user"
)

const (
	messageUnavailable = "The database did not answer in time. Try again in a moment."
	messageConflict    = "It exists already."
)

// What an error of the database means to callers. They are compared by address.
var (
	// ErrNotFound is the error for a row that does not exist.
	ErrNotFound = fault.New(fault.NotFound, "There is no such thing.")
	// ErrOutdated is what Ready returns for a database that lacks migrations which this program needs: a table or column is missing.
	ErrOutdated = fault.New(fault.Unavailable, "The database lacks migrations. Run 'gluepot migrate up'.")

	conflicting = fault.New(fault.Conflict, messageConflict)
	idTaken     = fault.New(fault.Conflict, messageConflict)
	subjectUsed = fault.New(fault.Conflict, messageConflict) // another user signs in with the identity
	invalid     = fault.New(fault.Invalid, "The database does not accept this value.")
	away        = fault.New(fault.Unavailable, messageUnavailable)
	noRoom      = fault.New(fault.Unavailable, "The database has no room left on its disk. Make some, then try again.")
	crowded     = fault.New(fault.Unavailable, "The database takes no more connections. Try again in a moment.")
	damaged     = fault.New(fault.Unavailable, "The database file is damaged.") // or no database
	forbidden   = fault.New(fault.Unavailable, messageUnavailable)              // the file cannot be opened
	noRight     = fault.New(fault.Unavailable,
		"The database user lacks a right that Gluepot needs. Grant it, or use the user that owns the tables.")
	noSchema = fault.New(fault.Unavailable,
		"The database has no schema for the tables. Create it, or check the search_path of the database user.")
	unforeseen = fault.Unforeseen(nil)
)

var errRefused = fault.New(fault.Unavailable, "This server only reads for now. Try again later.")

// Translate turns an error of GORM, database/sql or a driver into a *fault.Error. It leaves nil and a *fault.Error alone.
func Translate(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	meaning := diagnose(err)
	switch meaning {
	case idTaken:
		err = fmt.Errorf("%w: %w", ident.ErrTaken, err)
	case subjectUsed:
		return fmt.Errorf("%w: %w", user.ErrServiceTaken, err)
	}
	return fault.Wrap(meaning.Kind, meaning.Message, err)
}

func unavailable(err error) error { return fault.Wrap(fault.Unavailable, messageUnavailable, err) }

// diagnose knows the errors of the system, the drivers and GORM.
func diagnose(err error) *fault.Error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return noRoom
	}
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); ok {
		return diagnosePostgres(pgErr)
	}
	if sqliteErr, ok := errors.AsType[*sqlite.Error](err); ok {
		return diagnoseSQLite(sqliteErr)
	}
	if errors.Is(err, sql.ErrNoRows) || errors.Is(err, gorm.ErrRecordNotFound) {
		return ErrNotFound
	}
	if isConnectionError(err) {
		return away
	}
	return unforeseen
}

// diagnosePostgres goes by SQLSTATE (PostgreSQL documentation, appendix A).
func diagnosePostgres(err *pgconn.PgError) *fault.Error {
	switch err.Code {
	case "23505": // unique_violation
		switch {
		case strings.HasSuffix(err.ConstraintName, "_pkey"):
			return idTaken
		case err.ConstraintName == "identities_by_subject":
			return subjectUsed
		}
		return conflicting
	case "23503": // foreign_key_violation: the parent row is missing
		return ErrNotFound
	case "23502": // not_null_violation
		if err.TableName == "blocks" { // see guard
			return moderation.ErrBlocked
		}
	case "22021": // character_not_in_repertoire: no row has a text that is not UTF-8 or has a zero byte
		return ErrNotFound
	case "23514", "22001": // a failed check, too long
		return invalid
	case "42P01", "42703": // undefined_table, undefined_column
		return ErrOutdated
	case "3F000": // invalid_schema_name
		return noSchema
	case "42501": // insufficient_privilege
		return noRight
	case "53100": // disk_full
		return noRoom
	case "53300": // too_many_connections
		return crowded
	case "25006", // read_only_sql_transaction: a former primary
		"40001", "40P01", // serialization_failure, deadlock_detected
		"57014", // query_canceled: a deadline
		"55P03": // lock_not_available
		return away
	}
	switch err.Code[:min(2, len(err.Code))] {
	case "08", "28", "3D", "53", "57", "58": // connection, authorization, no such database, resources, operator, system
		return away
	}
	return unforeseen
}

// diagnoseSQLite goes by extended result code (https://www.sqlite.org/rescode.html), then by the primary one.
func diagnoseSQLite(err *sqlite.Error) *fault.Error {
	switch err.Code() {
	case sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
		return idTaken
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE:
		if strings.Contains(err.Error(), "identities.subject") {
			return subjectUsed
		}
		return conflicting
	case sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
		return ErrNotFound
	case sqlite3.SQLITE_IOERR_SHMSIZE: // the shared-memory file cannot grow
		return noRoom
	case sqlite3.SQLITE_CONSTRAINT_NOTNULL:
		if strings.Contains(err.Error(), "blocks.network") { // see guard
			return moderation.ErrBlocked
		}
		return invalid
	case sqlite3.SQLITE_CONSTRAINT_CHECK, sqlite3.SQLITE_TOOBIG:
		return invalid
	case sqlite3.SQLITE_ERROR: // SQLite has no code for missing tables
		if strings.Contains(err.Error(), "no such table") || strings.Contains(err.Error(), "no such column") {
			return ErrOutdated
		}
	}
	switch err.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return noRoom
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return damaged
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
		return forbidden
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT,
		sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_NOMEM:
		return away
	}
	return unforeseen
}

func isConnectionError(err error) bool {
	for _, target := range []error{
		context.Canceled, context.DeadlineExceeded,
		driver.ErrBadConn, sql.ErrConnDone, sql.ErrTxDone /* its deadline passed before the commit */, io.EOF,
		io.ErrUnexpectedEOF, net.ErrClosed,
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
	// Their packages do not export these two.
	return strings.Contains(err.Error(), "sql: database is closed") || strings.Contains(err.Error(), "conn closed")
}

// OrNotFound returns the error of a change, or gorm.ErrRecordNotFound if it affected no row.
func OrNotFound(result *gorm.DB) error {
	if result.Error == nil && result.RowsAffected == 0 {
		return gorm.ErrRecordNotFound
	}
	return result.Error
}
