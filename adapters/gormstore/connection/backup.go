package connection

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/gluepot/gluepot/domain/fault"
)

var errOpen = fault.New(fault.Unavailable, "The database is open in another process. Stop the server, then try again.")

// Backup writes a snapshot of an SQLite database in use to a new file, readable by its owner only. It leaves out clients' quotas and
// addresses. The file gets its name once it is complete and on the disk.
//
// It fails with fault.Conflict when the file exists, with fault.Unavailable when the database is an unfinished copy, and with
// fault.Invalid on PostgreSQL.
func (s *Store) Backup(ctx context.Context, path string) error {
	file, err := s.usableFile(ctx)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return fileFault(path, fs.ErrExist)
	}
	partial, err := newPartial(path)
	if err != nil {
		return fileFault(path, err)
	}
	defer partial.remove()
	source, err := plainSQLite(file, "ro", s.cfg.ConnectTimeout)
	if err != nil {
		return err
	}
	defer source.Close() //nolint:errcheck // it was only read
	if _, err := source.ExecContext(ctx, "VACUUM INTO ?", partial.path); err != nil {
		return Translate(err)
	}
	if err := forget(ctx, partial.path); err != nil {
		return err
	}
	return fileFault(path, partial.publish(path))
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

// logSuffixes are the suffixes of SQLite's logs. A database takes any log beside it for its own.
var logSuffixes = []string{"-wal", "-journal"}

// checkNoLog fails with fault.Conflict if there is a log of the database that is to be made at the path.
func checkNoLog(path string) error {
	for _, suffix := range logSuffixes {
		if _, err := os.Lstat(path + suffix); err == nil {
			return fault.New(fault.Conflict, fmt.Sprintf("There is a log %s%s without its database. Move it away first.", path, suffix))
		}
	}
	return nil
}

// partialFile is a temporary file that gets its name once it is complete.
type partialFile struct{ path string }

// abandonedAfter is how long a temporary file must be unchanged to count as left by a process that was killed.
const abandonedAfter = time.Hour

// newPartial makes a temporary file, and removes those that were abandoned in its folder: they may hold what was deleted since.
func newPartial(path string) (*partialFile, error) {
	const prefix = ".gluepot-partial-"
	left, _ := os.ReadDir(filepath.Dir(path)) // CreateTemp reports what is wrong with the folder
	for _, entry := range left {
		if info, err := entry.Info(); err == nil && strings.HasPrefix(entry.Name(), prefix) && time.Since(info.ModTime()) > abandonedAfter {
			_ = os.Remove(filepath.Join(filepath.Dir(path), entry.Name()))
		}
	}
	file, err := os.CreateTemp(filepath.Dir(path), prefix+"*") // mode 0600
	if err != nil {
		return nil, err
	}
	return &partialFile{file.Name()}, file.Close()
}

// remove removes the temporary file and SQLite's files beside it.
func (p *partialFile) remove() {
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		_ = os.Remove(p.path + suffix)
	}
}

// publish gives the file its name. It fails with fs.ErrExist when that is taken.
func (p *partialFile) publish(path string) error {
	if err := syncFile(p.path); err != nil {
		return err
	}
	if err := os.Link(p.path, path); errors.Is(err, fs.ErrExist) {
		return err
	} else if err != nil { // a file system without links
		if _, err := os.Lstat(path); err == nil {
			return fs.ErrExist
		}
		if err := os.Rename(p.path, path); err != nil {
			return err
		}
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

// Replacement says what Restore does with an existing database.
type Replacement struct {
	Replace     bool // put the backup in its place
	WithDeleted bool // and bring back what was deleted, removed or revoked there since the backup
}

// Restored is the result of Restore.
type Restored struct {
	Kept            string   // the path of the database that was replaced; empty: there was none
	Undone          []Undone // what of the backup was deleted, removed or revoked since, and is so again
	Version, Latest int64    // see Schema
}

// Restore turns a copy of a backup into the SQLite database of cfg, after a check of its integrity. It replaces an
// existing database only if the replacement says so. Then it keeps the old one, with its log, beside the new one under a
// name with the time, and the new one has its owner and mode. Where there was none, root gives the new one the owner of
// its folder.
//
// It fails with fault.Invalid when the backup is damaged, too new or no database of Gluepot, and on PostgreSQL; with
// fault.Conflict when a database exists and is not to be replaced; and with fault.Unavailable when that database is in
// use, belongs to another user, or does not say what was deleted in it.
func Restore(ctx context.Context, cfg Config, from string, replacement Replacement) (done Restored, err error) {
	path, err := URL(cfg.URL).file()
	if err != nil {
		return done, err
	}
	replacing, err := restorable(ctx, cfg, &path, from, replacement.Replace)
	if err != nil {
		return done, err
	}
	partial, err := newPartial(path)
	if err != nil {
		return done, fileFault(path, err)
	}
	defer partial.remove()
	if err := copyFile(ctx, partial.path, from); err != nil {
		return done, fileFault(path, err)
	}
	if done.Version, done.Latest, err = examine(ctx, partial.path, from); err != nil {
		return Restored{}, err
	}
	if !replacing {
		if err := takeOwnerOfFolder(partial.path); err != nil {
			return Restored{}, err
		}
		return done, fileFault(path, partial.publish(path))
	}
	done.Kept = path + "." + time.Now().UTC().Format("20060102T150405.000Z")
	done.Undone, err = replaceFile(ctx, cfg, path, done.Kept, partial, replacement.WithDeleted)
	return done, err
}

// restorable reports whether the backup would replace a database. It resolves links in path.
func restorable(ctx context.Context, cfg Config, path *string, from string, replace bool) (bool, error) {
	backup, err := os.Stat(from)
	if failed, ok := errors.AsType[*fs.PathError](err); ok { // Stat returns no other error
		return false, fault.Wrap(fault.Invalid, fmt.Sprintf("Cannot read %s: %v.", from, failed.Err), err)
	}
	if !backup.Mode().IsRegular() {
		return false, fault.New(fault.Invalid, fmt.Sprintf("%s is not a file.", from))
	}
	for _, suffix := range logSuffixes {
		if logSize(from, suffix) > 0 {
			return false, fault.New(fault.Invalid, fmt.Sprintf(
				"%s has a log (%s) beside it: it is a database in use and no backup. Make one with 'gluepot backup'.", from, suffix))
		}
	}
	if err := os.MkdirAll(filepath.Dir(*path), 0o700); err != nil {
		return false, fileFault(*path, err)
	}
	if real, err := filepath.EvalSymlinks(*path); err == nil {
		*path = real
	}
	there, err := os.Stat(*path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, checkNoLog(*path)
	case err != nil:
		return false, fileFault(*path, err)
	case os.SameFile(there, backup):
		return false, fault.New(fault.Invalid, fmt.Sprintf("%s is the database itself.", from))
	case !replace:
		return false, fault.New(fault.Conflict, fmt.Sprintf(
			"There is a database at %s already. Add --replace to put the backup in its place and keep the old one beside it.", *path))
	}
	if err := checkForeignFile(ctx, *path, cfg); fault.Is(err, fault.Conflict) { // a damaged file can be replaced
		return false, err
	}
	return true, nil
}

func copyFile(ctx context.Context, to, from string) error {
	source, err := os.Open(from) //nolint:gosec // the operator names it
	if err != nil {
		return err
	}
	defer source.Close()                                          //nolint:errcheck // it was only read
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_TRUNC, 0o600) //nolint:gosec // newPartial has made it
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = source.Close() })() // ends the copy
	_, err = io.Copy(target, source)
	return errors.Join(context.Cause(ctx), err, target.Close())
}

// plainSQLite opens one connection to a file, without changing its journal mode.
func plainSQLite(path, mode string, patience time.Duration) (*sql.DB, error) {
	db, err := sql.Open("sqlite", fmt.Sprintf("%s?mode=%s&_pragma=busy_timeout(%d)", sqliteURI(path), mode, patience.Milliseconds()))
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// examine checks that the copy of a backup is undamaged, Gluepot's, and of a version that this program knows.
func examine(ctx context.Context, path, from string) (version, latest int64, err error) {
	refused := func(format string, args ...any) (int64, int64, error) {
		return 0, 0, fault.New(fault.Invalid, from+fmt.Sprintf(format, args...))
	}
	latest = sqliteDialect.latestVersion()
	db, err := plainSQLite(path, "rw", time.Second)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var state string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&state); err != nil || state != "ok" {
		cause := cmp.Or(context.Cause(ctx), err, errors.New(state))
		return 0, 0, fault.Wrap(fault.Invalid, from+" is damaged, or not a database.", cause)
	}
	err = db.QueryRowContext(ctx, schemaVersion).Scan(&version)
	switch {
	case err != nil && diagnose(err) == ErrOutdated || err == nil && version == 0:
		if db.QueryRowContext(ctx, "SELECT count(*) FROM "+unreleasedTable).Scan(&version) == nil {
			return refused(" was made by a version of Gluepot from before its first release, which this one cannot read.")
		}
		return refused(" is a database, but not Gluepot's.")
	case err != nil:
		return 0, 0, Translate(err)
	case version > latest:
		return refused(" is at version %d, but this program knows versions up to %d only. Run a newer gluepot.", version, latest)
	}
	var broken int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM pragma_foreign_key_check").Scan(&broken); err != nil {
		return 0, 0, Translate(err)
	}
	if broken > 0 {
		return refused(" is damaged: %d rows refer to missing rows.", broken)
	}
	return version, latest, nil
}

// replaceFile replaces a database, and keeps the old one under another name. At every instant the path names one of the two. A process
// that opens the old one meanwhile waits for the lock, and then notices (see watchedFile).
func replaceFile(
	ctx context.Context, cfg Config, path, kept string, partial *partialFile, withDeleted bool,
) (undone []Undone, err error) {
	if err := keepOwner(partial.path, path); err != nil {
		return nil, err
	}
	if !withDeleted && !beginsAsSQLite(path) { // SQLite would remove its log
		return nil, uncompared(path, errors.New("it is no SQLite database"))
	}
	db, err := plainSQLite(path, "rw", cfg.ConnectTimeout)
	if err != nil {
		return nil, err
	}
	defer db.Close() //nolint:errcheck // this releases the lock
	if !withDeleted {
		err = attachRestored(ctx, db, partial.path)
	}
	if err == nil {
		err = closeLog(ctx, db)
	}
	damage := err != nil && diagnose(err) == damaged
	switch {
	case err != nil && !damage:
		return nil, err
	case withDeleted:
	case damage:
		return nil, uncompared(path, err)
	default:
		if undone, err = undoAgain(ctx, db); err != nil {
			return nil, uncompared(path, err)
		}
		if err := forget(ctx, partial.path); err != nil { // what was deleted again
			return nil, err
		}
	}
	if err := syncFile(partial.path); err != nil {
		return nil, fileFault(path, err)
	}
	if err := os.Link(path, kept); err != nil {
		return nil, fileFault(kept, err)
	}
	if damage { // keep its log for a recovery: the new file must not use it
		if err := os.Rename(path+"-wal", kept+"-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fileFault(kept, err)
		}
		_ = os.Remove(path + "-shm")
	}
	if err := os.Rename(partial.path, path); err != nil {
		return nil, fileFault(path, err)
	}
	return undone, syncFile(filepath.Dir(path))
}

// beginsAsSQLite reports whether a file has the header of a database. An empty file is a database without tables.
func beginsAsSQLite(path string) bool {
	file, err := os.Open(path) //nolint:gosec // the operator names it
	if err != nil {
		return false
	}
	defer file.Close() //nolint:errcheck // it was only read
	const magic = "SQLite format 3\x00"
	header := make([]byte, len(magic))
	_, err = io.ReadFull(file, header)
	return errors.Is(err, io.EOF) || string(header) == magic
}

// closeLog moves the log into the database and locks the file. SQLite allows this only if no other process has the file open.
func closeLog(ctx context.Context, db *sql.DB) error {
	for _, statement := range []string{"PRAGMA main.journal_mode = DELETE", "BEGIN EXCLUSIVE", "PRAGMA main.journal_mode"} {
		mode := "delete" // BEGIN returns no row
		err := db.QueryRowContext(ctx, statement).Scan(&mode)
		busy, ok := errors.AsType[*sqlite.Error](err)
		switch {
		case ok && busy.Code()&0xff == sqlite3.SQLITE_BUSY || mode != "delete":
			return errOpen
		case err != nil && !errors.Is(err, sql.ErrNoRows):
			return err
		}
	}
	return nil
}
