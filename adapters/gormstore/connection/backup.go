package connection

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/gluepot/gluepot/domain/fault"
)

var (
	errDump = fault.New(fault.Invalid, "The database is PostgreSQL, which has tools of its own for that: pg_dump and pg_restore.")
	errOpen = fault.New(fault.Unavailable, "The database is open in another process. Stop the server, then try again.")
)

// Backup writes a snapshot of an SQLite database in use to a new file, readable by its owner only. It leaves out clients' quotas and
// addresses. The file gets its name once it is complete and on the disk.
//
// It fails with fault.Conflict when the file exists, with fault.Unavailable when the database is an unfinished copy, and with
// fault.Invalid on PostgreSQL.
func (s *Store) Backup(ctx context.Context, path string) error {
	if s.file == nil {
		return errDump
	}
	if err := s.usable(ctx); err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return fileFault(path, fs.ErrExist)
	}
	partial, err := newPartial(path)
	if err != nil {
		return fileFault(path, err)
	}
	defer removePartial(partial)
	if err := vacuumInto(ctx, partial, s.file.path); err != nil {
		return err
	}
	if err := forget(ctx, partial); err != nil {
		return err
	}
	return fileFault(path, publish(partial, path))
}

// vacuumInto writes a snapshot of a database, with what is in its log, to an empty file.
func vacuumInto(ctx context.Context, to, from string) error {
	db, err := plainSQLite(from, "ro", time.Second)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // it was only read
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", to)
	return Translate(err)
}

// forget removes clients' hashes and their salt, the origins of pastes, and deleted text from the search index.
func forget(ctx context.Context, path string) error {
	db, err := plainSQLite(path, "rw", time.Second)
	if err != nil {
		return err
	}
	for _, statement := range []string{
		"PRAGMA secure_delete = ON", "PRAGMA journal_mode = MEMORY", "DELETE FROM paste_quotas",
		"UPDATE paste_quota_salt SET salt = randomblob(32)", "DELETE FROM paste_origins", purgeIndex,
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return errors.Join(Translate(err), db.Close())
		}
	}
	return db.Close()
}

// fileFault translates an error about a file. It leaves nil alone.
func fileFault(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist):
		return fault.New(fault.Conflict, fmt.Sprintf("There is a file %s already. Choose another name.", path))
	case diagnose(err) == noRoom:
		return Translate(err)
	}
	return fault.Wrap(fault.Unavailable, fmt.Sprintf("Cannot write %s.", path), err)
}

// newPartial makes an empty file beside path, which gets that name once it is complete.
func newPartial(path string) (string, error) {
	file, err := os.CreateTemp(filepath.Dir(path), ".gluepot-partial-*") // mode 0600
	if err != nil {
		return "", err
	}
	return file.Name(), file.Close()
}

// removePartial removes what is left of a partial file, and SQLite's files beside it.
func removePartial(path string) {
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		_ = os.Remove(path + suffix)
	}
}

// publish gives a complete file its name. It fails with fs.ErrExist when that is taken.
func publish(partial, path string) error {
	if err := syncFile(partial); err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return fs.ErrExist
	}
	if err := os.Rename(partial, path); err != nil {
		return err
	}
	return syncFile(filepath.Dir(path))
}

// syncFile flushes a file or a folder to the disk.
func syncFile(path string) error {
	file, err := os.Open(path) //nolint:gosec // the operator names it
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// Restored is the result of Restore.
type Restored struct {
	Kept            string // the path of the database that was replaced; empty: there was none
	Version, Latest int64  // see Schema
}

// Restore turns a copy of a backup into the SQLite database of cfg, after a check of its integrity. It replaces an existing database
// only if replace is set, and then keeps the old one, with its log, beside it under a name with the time.
//
// It fails with fault.Invalid when the backup is damaged, too new or no database of Gluepot, and on PostgreSQL; with fault.Conflict
// when a database exists and replace is not set; and with fault.Unavailable when that database is in use.
func Restore(ctx context.Context, cfg Config, from string, replace bool) (done Restored, err error) {
	path, ok := cfg.URL.sqlitePath()
	if !ok {
		return done, errDump
	}
	exists, err := replaceable(&path, replace)
	if err != nil {
		return done, err
	}
	if done.Version, done.Latest, err = examine(ctx, from); err != nil {
		return Restored{}, err
	}
	partial, err := newPartial(path)
	if err != nil {
		return done, fileFault(path, err)
	}
	defer removePartial(partial)
	if err := vacuumInto(ctx, partial, from); err != nil {
		return done, err
	}
	if !exists {
		return done, fileFault(path, publish(partial, path))
	}
	done.Kept = path + "." + time.Now().UTC().Format("20060102T150405.000Z")
	return done, replaceFile(ctx, cfg, path, done.Kept, partial)
}

// replaceable reports whether there is a database to replace. It makes the folder of path, and resolves links in path.
func replaceable(path *string, replace bool) (bool, error) {
	if err := os.MkdirAll(filepath.Dir(*path), 0o700); err != nil {
		return false, fileFault(*path, err)
	}
	if real, err := filepath.EvalSymlinks(*path); err == nil {
		*path = real
	}
	if _, err := os.Stat(*path); err == nil {
		if !replace {
			return true, fault.New(fault.Conflict, fmt.Sprintf(
				"There is a database at %s already. Add --replace to put the backup in its place and keep the old one beside it.", *path))
		}
		return true, nil
	}
	for _, suffix := range []string{"-wal", "-journal"} { // a database takes any log beside it for its own
		if _, err := os.Lstat(*path + suffix); err == nil {
			return false, fault.New(fault.Conflict, fmt.Sprintf("There is a log %s%s without its database. Move it away first.", *path, suffix))
		}
	}
	return false, nil
}

// plainSQLite opens one connection to a file, without changing its journal mode.
func plainSQLite(path, mode string, patience time.Duration) (*sql.DB, error) {
	db, err := sql.Open("sqlite", fmt.Sprintf("%s?mode=%s&_pragma=busy_timeout(%d)", sqliteURI(path), mode, patience.Milliseconds()))
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// examine checks that a backup is undamaged, Gluepot's, and of a version that this program knows.
func examine(ctx context.Context, from string) (version, latest int64, err error) {
	if latest, err = (&Store{Dialect: sqliteDialect}).latestVersion(); err != nil {
		return 0, 0, err
	}
	if _, err := os.Stat(from); err != nil {
		return 0, 0, fault.Wrap(fault.Invalid, fmt.Sprintf("Cannot read the backup: %v.", err), err)
	}
	db, err := plainSQLite(from, "ro", time.Second)
	if err != nil {
		return 0, 0, err
	}
	defer db.Close() //nolint:errcheck // it was only read
	var state string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&state); err != nil || state != "ok" {
		cause := cmp.Or(context.Cause(ctx), err, errors.New(state))
		return 0, 0, fault.Wrap(fault.Invalid, from+" is damaged, or no database.", cause)
	}
	err = db.QueryRowContext(ctx, schemaVersion).Scan(&version)
	switch {
	case err != nil || version == 0:
		return 0, 0, fault.Wrap(fault.Invalid, from+" is a database, but none of Gluepot's.", err)
	case version > latest:
		return 0, 0, fault.New(fault.Invalid, fmt.Sprintf(
			"%s is at version %d, but this program knows versions up to %d only. Run a newer gluepot.", from, version, latest))
	}
	return version, latest, nil
}

// replaceFile replaces a database, and keeps the old one under another name. At every instant the path names one of the two. A process
// that opens the old one meanwhile waits for the lock, and then notices (see watchedFile).
func replaceFile(ctx context.Context, cfg Config, path, kept, partial string) error {
	db, err := plainSQLite(path, "rw", cfg.ConnectTimeout)
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // this releases the lock
	if err := closeLog(ctx, db); err != nil && diagnose(err) != damaged {
		return err
	}
	if err := syncFile(partial); err != nil {
		return fileFault(path, err)
	}
	if err := os.Link(path, kept); err != nil {
		return fileFault(kept, err)
	}
	// Only a damaged database still has a log. Keep it for a recovery: the new file must not use it.
	if err := os.Rename(path+"-wal", kept+"-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fileFault(kept, err)
	}
	_ = os.Remove(path + "-shm")
	if err := os.Rename(partial, path); err != nil {
		return fileFault(path, err)
	}
	return syncFile(filepath.Dir(path))
}

// closeLog moves the log into the database and locks the file. SQLite allows this only if no other process has the file open.
func closeLog(ctx context.Context, db *sql.DB) error {
	var mode string
	err := db.QueryRowContext(ctx, "PRAGMA journal_mode = DELETE").Scan(&mode)
	if err == nil {
		_, err = db.ExecContext(ctx, "BEGIN EXCLUSIVE")
	}
	if busy, ok := errors.AsType[*sqlite.Error](err); ok && busy.Code()&0xff == sqlite3.SQLITE_BUSY || err == nil && mode != "delete" {
		return errOpen
	}
	return err
}
