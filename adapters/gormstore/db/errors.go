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
	unforeseen = fault.Unexpected(nil)
)

var errRefused = fault.New(fault.Unavailable, "This server only reads for now. Try again later.")

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
	case idTaken:
		err = fmt.Errorf("%w: %w", ident.ErrTaken, err)
	case subjectUsed:
		return user.ErrIdentityTaken // without the cause, which an operator would see
	}
	return fault.Wrap(meaning.Kind, meaning.Message, err)
}

func unavailable(err error) error { return fault.Wrap(fault.Unavailable, messageUnavailable, err) }

// diagnose knows the errors of the system, the drivers and GORM.
func diagnose(err error) *fault.Error {
	switch {
	case sqlitefile.IsFull(err):
		return noRoom
	case sqlitefile.IsDamaged(err):
		return damaged
	case sqlitefile.IsForbidden(err):
		return forbidden
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

// sqlStates are SQLSTATEs and their classes, of two characters (PostgreSQL documentation, appendix A).
var sqlStates = map[string]*fault.Error{
	"23503": ErrNotFound, // foreign_key_violation: the parent row is missing
	"22012": errCopying,  // division_by_zero: see Dialect.failWhileCopying
	"22021": ErrNotFound, // character_not_in_repertoire: no row has a text that is not UTF-8 or has a zero byte
	"23505": conflicting, // unique_violation
	"23514": invalid,     // check_violation
	"22001": invalid,     // string_data_right_truncation
	"42P01": ErrOutdated, // undefined_table
	"42703": ErrOutdated, // undefined_column
	"3F000": noSchema,    // invalid_schema_name
	"42501": noRight,     // insufficient_privilege
	"53100": noRoom,      // disk_full
	"53300": crowded,     // too_many_connections
	"25006": away,        // read_only_sql_transaction: a former primary
	"40001": away,        // serialization_failure
	"40P01": away,        // deadlock_detected
	"55P03": away,        // lock_not_available
	"08":    away,        // connection exception
	"28":    away,        // invalid authorization
	"3D":    away,        // no such database
	"53":    away,        // insufficient resources
	"57":    away,        // operator intervention, and a deadline
	"58":    away,        // system error
}

func diagnosePostgres(err *pgconn.PgError) *fault.Error {
	switch {
	case err.Code == "23505" && strings.HasSuffix(err.ConstraintName, "_pkey"):
		return idTaken
	case err.Code == "23505" && err.ConstraintName == "identities_by_subject":
		return subjectUsed
	case err.Code == "23502" && err.TableName == "blocks": // not_null_violation: see guard
		return moderation.ErrBlocked
	}
	return cmp.Or(sqlStates[err.Code], sqlStates[err.Code[:min(2, len(err.Code))]], unforeseen)
}

// resultCodes are SQLite's extended result codes and the primary ones (https://www.sqlite.org/rescode.html).
var resultCodes = map[int]*fault.Error{
	sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY: idTaken,
	sqlite3.SQLITE_CONSTRAINT_UNIQUE:     conflicting,
	sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY: ErrNotFound,
	sqlite3.SQLITE_CONSTRAINT_NOTNULL:    invalid,
	sqlite3.SQLITE_CONSTRAINT_CHECK:      invalid,
	sqlite3.SQLITE_TOOBIG:                invalid,
	sqlite3.SQLITE_BUSY:                  away,
	sqlite3.SQLITE_LOCKED:                away,
	sqlite3.SQLITE_INTERRUPT:             away,
	sqlite3.SQLITE_IOERR:                 away,
	sqlite3.SQLITE_PROTOCOL:              away,
	sqlite3.SQLITE_NOMEM:                 away,
}

func diagnoseSQLite(err *sqlite.Error) *fault.Error {
	says := func(text string) bool { return strings.Contains(err.Error(), text) }
	switch code := err.Code(); {
	case code == sqlite3.SQLITE_CONSTRAINT_UNIQUE && says("identities.subject"):
		return subjectUsed
	case code == sqlite3.SQLITE_CONSTRAINT_NOTNULL && says("blocks.network"): // see guard
		return moderation.ErrBlocked
	case code == sqlite3.SQLITE_CONSTRAINT_NOTNULL && says("installation.uid"): // see Dialect.failWhileCopying
		return errCopying
	case code == sqlite3.SQLITE_ERROR && (says("no such table") || says("no such column")): // it has no code for them
		return ErrOutdated
	}
	return cmp.Or(resultCodes[err.Code()], resultCodes[err.Code()&0xff], unforeseen)
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
