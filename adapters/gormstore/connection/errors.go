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

// Messages for callers.
const (
	messageUnavailable = "The database did not answer in time. Try again in a moment."
	messageNoRoom      = "The database has no room left on its disk. Make some, then try again."
	messageCrowded     = "The database takes no more connections. Try again in a moment."
	messageStarting    = "The database is starting or stopping. Try again in a moment."
	messageOutdated    = "The database lacks migrations. Run 'gluepot migrate up'."
	messageDamaged     = "The database file is damaged."
	messageNoRight     = "The database user lacks a right that Gluepot needs. Grant it, or use the user that owns the tables."
	messageNoSchema    = "The database has no schema for the tables. Create it, or check the search_path of the database user."
	messageConflict    = "It exists already."
	MessageNotFound    = "There is no such thing."
	messageReadOnly    = "The database was opened for reading only."
	messageRefused     = "This server only reads for now. Try again later."
	messageInvalid     = "The database does not accept this value."
)

// diagnosis is what an error means to the caller of the database. Each is compared by its address.
type diagnosis struct {
	kind    fault.Kind
	message string
}

var (
	absent      = &diagnosis{fault.NotFound, MessageNotFound}
	conflicting = &diagnosis{fault.Conflict, messageConflict}
	idTaken     = &diagnosis{fault.Conflict, messageConflict}
	subjectUsed = &diagnosis{fault.Conflict, messageConflict} // another user signs in with the identity
	invalid     = &diagnosis{fault.Invalid, messageInvalid}
	away        = &diagnosis{fault.Unavailable, messageUnavailable}
	noRoom      = &diagnosis{fault.Unavailable, messageNoRoom} // on the disk, or in its owner's share of it
	crowded     = &diagnosis{fault.Unavailable, messageCrowded}
	starting    = &diagnosis{fault.Unavailable, messageStarting}
	outdated    = &diagnosis{fault.Unavailable, messageOutdated}    // a table or column is missing: the schema is an older one, or gone
	damaged     = &diagnosis{fault.Unavailable, messageDamaged}     // the file is broken, or another thing than a database
	forbidden   = &diagnosis{fault.Unavailable, messageUnavailable} // the file cannot be opened, or not for writing
	noRight     = &diagnosis{fault.Unavailable, messageNoRight}
	noSchema    = &diagnosis{fault.Unavailable, messageNoSchema}
	blocked     = &diagnosis{fault.Forbidden, moderation.ErrBlocked.Message}
	unforeseen  = &diagnosis{fault.Internal, fault.MessageInternal}
)

// Errors that statements are not asked for.
var (
	ErrNotFound = fault.New(absent.kind, absent.message)
	errRefused  = fault.New(fault.Unavailable, messageRefused)
	errReadOnly = fault.New(fault.Unavailable, messageReadOnly)
)

// Translate turns an error of GORM, database/sql or a driver into a *fault.Error. nil stays nil, and
// so does a *fault.Error.
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
	return fault.Wrap(meaning.kind, meaning.message, err)
}

func unavailable(err error) error { return fault.Wrap(away.kind, away.message, err) }

// diagnose asks each library's table, that of the system first.
func diagnose(err error) *diagnosis {
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
		return absent
	}
	if isConnectionError(err) {
		return away
	}
	return unforeseen
}

// diagnosePostgres goes by SQLSTATE (PostgreSQL documentation, appendix A).
func diagnosePostgres(err *pgconn.PgError) *diagnosis {
	switch err.Code {
	case "23505": // unique_violation
		switch {
		case strings.HasSuffix(err.ConstraintName, "_pkey"):
			return idTaken
		case err.ConstraintName == "identities_by_subject":
			return subjectUsed
		}
		return conflicting
	case "23503": // foreign_key_violation: what the row belongs to is not there
		return absent
	case "22012": // division_by_zero, which nothing but guardTogether does
		return blocked
	case "22021", "22P05", "23514", "22001": // invalid text, a failed check, too long
		return invalid
	case "42P01", "42703": // undefined_table, undefined_column
		return outdated
	case "3F000": // invalid_schema_name
		return noSchema
	case "42501": // insufficient_privilege
		return noRight
	case "53100": // disk_full
		return noRoom
	case "53300": // too_many_connections
		return crowded
	case "57P01", "57P02", "57P03": // admin_shutdown, crash_shutdown, cannot_connect_now
		return starting
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
func diagnoseSQLite(err *sqlite.Error) *diagnosis {
	switch err.Code() {
	case sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY:
		return idTaken
	case sqlite3.SQLITE_CONSTRAINT_UNIQUE:
		if strings.Contains(err.Error(), "identities.subject") {
			return subjectUsed
		}
		return conflicting
	case sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY:
		return absent
	case sqlite3.SQLITE_IOERR_SHMSIZE: // the file beside the log cannot grow
		return noRoom
	case sqlite3.SQLITE_CONSTRAINT_CHECK, sqlite3.SQLITE_CONSTRAINT_NOTNULL, sqlite3.SQLITE_TOOBIG:
		return invalid
	case sqlite3.SQLITE_ERROR: // has no code of its own for missing tables
		if strings.Contains(err.Error(), "no such table") || strings.Contains(err.Error(), "no such column") {
			return outdated
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
		driver.ErrBadConn, sql.ErrConnDone, sql.ErrTxDone /* its time ended before the commit */, io.EOF,
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
	// Neither package exports these two.
	return strings.Contains(err.Error(), "sql: database is closed") || strings.Contains(err.Error(), "conn closed")
}

// OrNotFound turns a change that found nothing to change into the error for that.
func OrNotFound(result *gorm.DB) error {
	if result.Error == nil && result.RowsAffected == 0 {
		return gorm.ErrRecordNotFound
	}
	return result.Error
}
