package sqlitefile

import (
	"errors"
	"slices"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// IsFull reports whether an error says that the disk is full.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) ||
		hasCode(err, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE) // the shared-memory file cannot grow
}

// IsDamaged reports whether an error says that a file is damaged, or is not a database.
func IsDamaged(err error) bool { return hasCode(err, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) }

// IsForbidden reports whether an error says that SQLite cannot open a file, or cannot open it for writing.
func IsForbidden(err error) bool {
	return hasCode(err, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
}

// hasCode reports whether an error of SQLite has one of the codes, extended or primary
// (https://www.sqlite.org/rescode.html).
func hasCode(err error, codes ...int) bool {
	sqliteErr, ok := errors.AsType[*sqlite.Error](err)
	return ok && (slices.Contains(codes, sqliteErr.Code()) || slices.Contains(codes, sqliteErr.Code()&0xff))
}
