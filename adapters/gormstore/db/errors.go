package db

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"gorm.io/gorm"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/gluepot/gluepot/adapters/gormstore/sqlitefile"
	"github.com/gluepot/gluepot/domain/fault"
	"github.com/gluepot/gluepot/domain/ident"
	"github.com/gluepot/gluepot/domain/moderation"
	"github.com/gluepot/gluepot/domain/token"
	"github.com/gluepot/gluepot/domain/user"
)

const (
	messageUnavailable = "The database did not answer in time. Try again in a moment."
	messageConflict    = "It exists already."
)

// What errors of the database mean to callers. These values are compared by address.
var (
	// ErrNotFound is the error for a row that does not exist.
	ErrNotFound = fault.New(fault.NotFound, "There is no such thing.")
	// ErrOutdated is what Ready returns for a database that lacks migrations which this program needs: a table or column
	// is missing.
	ErrOutdated = fault.New(fault.Unavailable, "The database lacks migrations. Run 'gluepot migrate up'.")

	errConflict     = fault.New(fault.Conflict, messageConflict)
	errIDTaken      = fault.New(fault.Conflict, messageConflict)
	errIdentityUsed = fault.New(fault.Conflict, messageConflict) // another user signs in with the identity
	errInvalid      = fault.New(fault.Invalid, "The database does not accept one of the values.")
	errUnavailable  = fault.New(fault.Unavailable, messageUnavailable)
	errFull         = fault.New(fault.Unavailable,
		"The database's disk is full. Free some space, then try again.")
	errTooManyConnections = fault.New(fault.Unavailable,
		"The database accepts no more connections. Try again in a moment.")
	errDamaged     = fault.New(fault.Unavailable, "The database file is damaged.") // or no database
	errCannotOpen  = fault.New(fault.Unavailable, messageUnavailable)              // the file cannot be opened
	errNoPrivilege = fault.New(fault.Unavailable,
		"The database user lacks a privilege that Gluepot needs. Grant it, or use the user that owns the tables.")
	errNoSchema = fault.New(fault.Unavailable,
		"The database has no schema for the tables. Create it, or check the search_path of the database user.")
	errUnexpected = fault.Unexpected(nil)
)

var errReadOnly = fault.New(fault.Unavailable, "This server is read-only for now. Try again later.")

// Translate turns an error of GORM, database/sql or a driver into a *fault.Error. It leaves nil and a *fault.Error
// alone.
func Translate(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*fault.Error](err); ok {
		return err
	}
	meaning := diagnose(err)
	switch meaning {
	case errIDTaken:
		err = fmt.Errorf("%w: %w", ident.ErrTaken, err)
	case errIdentityUsed:
		return user.ErrIdentityTaken // without the cause, which an operator would see
	case token.ErrSuspended:
		return meaning
	}
	return fault.Wrap(meaning.Kind, meaning.Message, err)
}

func unavailable(err error) error { return fault.Wrap(fault.Unavailable, messageUnavailable, err) }

// diagnose returns what an error of the system, a driver or GORM means.
func diagnose(err error) *fault.Error {
	switch {
	case sqlitefile.IsFull(err):
		return errFull
	case sqlitefile.IsDamaged(err):
		return errDamaged
	case sqlitefile.IsForbidden(err):
		return errCannotOpen
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
		return errUnavailable
	}
	return errUnexpected
}

// sqlStates are SQLSTATEs and their classes, of two characters (PostgreSQL documentation, appendix A).
var sqlStates = map[string]*fault.Error{
	"23503": ErrNotFound,           // foreign_key_violation: the parent row is missing
	"22012": errCopying,            // division_by_zero: see Dialect.failWhileCopying
	"22021": ErrNotFound,           // character_not_in_repertoire: no row has a text that is not UTF-8 or has a zero byte
	"23505": errConflict,           // unique_violation
	"23514": errInvalid,            // check_violation
	"22001": errInvalid,            // string_data_right_truncation
	"42P01": ErrOutdated,           // undefined_table
	"42703": ErrOutdated,           // undefined_column
	"3F000": errNoSchema,           // invalid_schema_name
	"42501": errNoPrivilege,        // insufficient_privilege
	"53100": errFull,               // disk_full
	"53300": errTooManyConnections, // too_many_connections
	"25006": errUnavailable,        // read_only_sql_transaction: a former primary
	"40001": errUnavailable,        // serialization_failure
	"40P01": errUnavailable,        // deadlock_detected
	"55P03": errUnavailable,        // lock_not_available
	"08":    errUnavailable,        // connection exception
	"28":    errUnavailable,        // invalid authorization
	"3D":    errUnavailable,        // no such database
	"53":    errUnavailable,        // insufficient resources
	"57":    errUnavailable,        // operator intervention, and a deadline
	"58":    errUnavailable,        // system error
}

func diagnosePostgres(err *pgconn.PgError) *fault.Error {
	switch {
	case err.Code == "23505" && strings.HasSuffix(err.ConstraintName, "_pkey"):
		return errIDTaken
	case err.Code == "23505" && err.ConstraintName == "identities_by_subject":
		return errIdentityUsed
	case err.Code == "23502" && err.TableName == "blocks": // not_null_violation: see Store.RefuseBlocked
		return moderation.ErrBlocked
	case err.Code == "23502" && err.TableName == "users": // see RefuseHidden
		return token.ErrSuspended
	}
	return cmp.Or(sqlStates[err.Code], sqlStates[err.Code[:min(2, len(err.Code))]], errUnexpected)
}

// resultCodes are SQLite's extended result codes and the primary ones (https://www.sqlite.org/rescode.html).
var resultCodes = map[int]*fault.Error{
	sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY: errIDTaken,
	sqlite3.SQLITE_CONSTRAINT_UNIQUE:     errConflict,
	sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY: ErrNotFound,
	sqlite3.SQLITE_CONSTRAINT_NOTNULL:    errInvalid,
	sqlite3.SQLITE_CONSTRAINT_CHECK:      errInvalid,
	sqlite3.SQLITE_TOOBIG:                errInvalid,
	sqlite3.SQLITE_BUSY:                  errUnavailable,
	sqlite3.SQLITE_LOCKED:                errUnavailable,
	sqlite3.SQLITE_INTERRUPT:             errUnavailable,
	sqlite3.SQLITE_IOERR:                 errUnavailable,
	sqlite3.SQLITE_PROTOCOL:              errUnavailable,
	sqlite3.SQLITE_NOMEM:                 errUnavailable,
}

func diagnoseSQLite(err *sqlite.Error) *fault.Error {
	says := func(text string) bool { return strings.Contains(err.Error(), text) }
	switch code := err.Code(); {
	case code == sqlite3.SQLITE_CONSTRAINT_UNIQUE && says("identities.subject"):
		return errIdentityUsed
	case code == sqlite3.SQLITE_CONSTRAINT_NOTNULL && says("blocks.network"): // see Store.RefuseBlocked
		return moderation.ErrBlocked
	case code == sqlite3.SQLITE_CONSTRAINT_NOTNULL && says("users.username"): // see RefuseHidden
		return token.ErrSuspended
	case code == sqlite3.SQLITE_CONSTRAINT_NOTNULL && says("installation.uid"): // see Dialect.failWhileCopying
		return errCopying
	case code == sqlite3.SQLITE_ERROR && (says("no such table") || says("no such column")): // SQLite has no code for these
		return ErrOutdated
	}
	return cmp.Or(resultCodes[err.Code()], resultCodes[err.Code()&0xff], errUnexpected)
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
